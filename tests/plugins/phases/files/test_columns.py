from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.files.columns import TraceColumns, features_of, places_of
from jpo.plugins.phases.traces import CPU, GPU, GPU_MEMORY, MEMORY


def test_features_are_those_that_are_named_or_the_usual_ones() -> None:
    assert features_of(TraceColumns({"network": "n"})) == ((CPU, MEMORY, "network"), (GPU, GPU_MEMORY))
    assert features_of(TraceColumns(features=("network",))) == (("network",), ())


def test_beside_other_files_a_table_may_lack_what_they_have() -> None:
    assert [*places_of("t.csv:1", ["t", "cpu"], TraceColumns(), alone=False)] == ["time", CPU]
    with pytest.raises(UsageError, match="has no column"):
        places_of("t.csv:1", ["t", "cpu"], TraceColumns())
