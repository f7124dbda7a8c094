from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.phases.fit import FitOptions, fit_model
from jpo.phases.model import BOLDEST_KNOWN
from jpo.phases.model_file import encoded
from jpo.phases.traces import Traces


def test_the_same_seed_and_traces_make_the_same_file(traces: Traces) -> None:
    few = replace(traces, courses=traces.courses[:3])
    assert encoded(fit_model(few, FitOptions(seed=4))) == encoded(fit_model(few, FitOptions(seed=4)))


def test_constant_traces_are_named_with_their_execution(traces: Traces) -> None:
    flat = tuple(replace(course, values=np.ones_like(course.values)) for course in traces.courses[:2])
    with pytest.raises(UsageError, match="traces: execution run-0 and 1 more: every feature is constant"):
        fit_model(replace(traces, courses=flat))


def test_one_execution_leaves_none_to_try_caution_on(traces: Traces) -> None:
    assert fit_model(replace(traces, courses=traces.courses[:1])).caution == (BOLDEST_KNOWN, BOLDEST_KNOWN)


def test_a_fit_says_how_far_it_is(traces: Traces) -> None:
    shown: list[str] = []

    def track(numbers: Sequence[int], what: str) -> Iterable[int]:
        shown.append(what)
        return numbers

    fit_model(replace(traces, courses=traces.courses[:3]), track=track)
    assert shown == ["caution on executions left out"]
