from __future__ import annotations

from dataclasses import replace

from jpo.phases.fit import FitOptions, fit_model
from jpo.phases.model import BOLDEST_KNOWN
from jpo.phases.model_file import encoded
from jpo.phases.traces import Traces


def test_the_same_seed_and_traces_make_the_same_file(traces: Traces) -> None:
    few = replace(traces, courses=traces.courses[:3])
    assert encoded(fit_model(few, FitOptions(seed=4))) == encoded(fit_model(few, FitOptions(seed=4)))


def test_one_execution_leaves_none_to_try_caution_on(traces: Traces) -> None:
    assert fit_model(replace(traces, courses=traces.courses[:1])).caution == (BOLDEST_KNOWN, BOLDEST_KNOWN)
