from __future__ import annotations

import numpy as np

from jpo.plugins.phases.files.series import ExportedSeries


def test_a_series_has_no_unit_unless_its_cells_have() -> None:
    assert ExportedSeries("f.csv", "f.csv:1", "a", "a", {}, np.zeros(0), np.zeros(0)).unit is None
