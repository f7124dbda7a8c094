from __future__ import annotations

import pytest
from phase_traces import made_traces

from jpo.plugins.phases.fit import fit_model
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.traces import Traces


@pytest.fixture(scope="session")
def traces() -> Traces:
    return made_traces()[0]


@pytest.fixture(scope="session")
def model(traces: Traces) -> PhaseModel:
    return fit_model(traces)
