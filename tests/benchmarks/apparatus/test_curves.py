import math
import runpy
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed; the curves need it")
pytest.importorskip("sklearn", reason="scikit-learn is not installed; the curves need it")

FAMILIES = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "apparatus" / "curves.py"))["FAMILIES"]


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_seed_says_how_a_run_of_a_family_goes(family):
    curve, configurations, seed = FAMILIES[family]
    short = {**configurations[len(configurations) // 2], "epochs": 2}
    losses = list(curve(short, seed))
    assert len(losses) == 2
    assert all(math.isfinite(loss) for loss in losses)
    assert list(curve(short, seed)) == losses
