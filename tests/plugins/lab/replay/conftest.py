"""A small recorded job with numbers that can be followed by hand, and the text of a trace file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jpo.plugins.lab.replay.traces import Execution, Trace

ZEUS = """\
# workload = "zeus_toy"
# family = "zeus"
# default = { batch_size = 32, gpus = 1, gpu_type = "v100", power_limit_w = 250 }
# knobs = ["batch_size", "power_limit_w"]
# cost_column = "energy_j"
batch_size,gpus,power_limit_w,rep,converged,time_to_target_s,energy_j,time_full_s,energy_full_j
32,1,250,1,1,100,1000,300,3000
32,1,250,2,1,110,1100,300,3000
32,1,200,1,1,120,900,300,2500
64,1,250,1,0,,,200,2000
"""
POLLUX = """\
# workload = "pollux_toy"
# family = "pollux"
# default = { batch_size = 32, gpus = 1 }
# knobs = ["batch_size", "gpus"]
# cost_column = "gpu_hours"
batch_size,gpus,placement,rep,converged,time_to_target_s,time_full_s
32,1,1,1,1,3600,7200
32,2,2,1,1,1800,3600
32,2,11,2,1,2700,5400
"""


def ladder_of(*seconds: float, default: int = 0) -> Trace:
    """Batch sizes 1, 2, 4, ...: always as long as given here, in USD as in seconds; negative: the target is never reached."""
    configurations = tuple({"batch_size": 2.0**step} for step in range(len(seconds)))
    return Trace("toy", configurations, tuple((Execution(abs(s), abs(s), s > 0),) for s in seconds), default, "USD")


@pytest.fixture
def ladder() -> Callable[..., Trace]:
    return ladder_of


@pytest.fixture
def zeus(tmp_path: Path) -> Path:
    path = tmp_path / "zeus.csv"
    path.write_text(ZEUS)
    return path


@pytest.fixture
def pollux(tmp_path: Path) -> Path:
    path = tmp_path / "pollux.csv"
    path.write_text(POLLUX)
    return path
