"""Traces of a made job, and what is learnt from some of its runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from phase_traces import made_traces

from jpo.plugins.phases.fit import fit_model
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.traces import Traces


@pytest.fixture(scope="package")
def made() -> Traces:
    return made_traces(runs=9, seed=2)[0]


@pytest.fixture(scope="package")
def learnt(made: Traces) -> PhaseModel:
    return fit_model(replace(made, executions=made.executions[:6]))
