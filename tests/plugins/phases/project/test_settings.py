from __future__ import annotations

import pytest
from pydantic import ValidationError

from jpo.plugins.phases.project.settings import PhasesTable


@pytest.mark.parametrize("runs", [0, 101])
def test_the_last_1_to_100_runs_may_count(runs: int) -> None:
    assert PhasesTable().runs == 5
    with pytest.raises(ValidationError):
        PhasesTable(runs=runs)
