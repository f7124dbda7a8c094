"""The projects that the golden scenarios start from: the quickstart, and a team's with prices, SLA targets and failed runs.

Everything is fixed: texts, numbers, times. Nothing of jpo is imported.
"""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
DAY = 86400.0
FIRST_NIGHT = 1793754000.0
"""2026-11-04T01:00Z: the team's first run starts; the next ones a day apart."""

CONFIG = (
    "; nightly training, edited by hand\r\n"
    "[job]\r\n"
    "Dataset = cifar10\r\n"
    "model: resnet18\r\n"
    "framework =pytorch\r\n"
    "\r\n"
    "[training]\r\n"
    "batch_size   =  64     ; from the paper\r\n"
    "learning_rate=0.02\r\n"
    "# jpo: pin\r\n"
    "epochs = 20\r\n"
    "schedule = cosine      # not a parameter of JPO\r\n"
    "[resources]\r\n"
    "gpus = 2\r\n"
    "cpus = 8\r\n"
    "memory_gib = 32"
)
"""CRLF, odd spacing, both kinds of comments, a pin, and no newline at the end: what an edit must leave alone."""

OTHER_CONFIG = """\
[job]
dataset = svhn
model = resnet18
framework = pytorch
[training]
batch_size = 128
learning_rate = 0.05
epochs = 20
[resources]
gpus = 1
cpus = 8
memory_gib = 32
"""

TOML = """\
preference = "night"

[workload]
config = "config.ini"
identity = { dataset = "job.dataset", model = "job.model", framework = "job.framework" }

[csv]
logs = ["runs/*.csv"]

[parameters]
batch_size    = { key = "training.batch_size", min = 16, max = 512, step = "pow2", max_change = 4.0 }
learning_rate = { key = "training.learning_rate", min = 0.001, max = 0.4, follow = "batch_size:linear" }
epochs        = { key = "training.epochs" }
gpus          = { key = "resources.gpus", choices = [1, 2, 4] }
cpus          = { key = "resources.cpus", freeze = true }
memory_gib    = { key = "resources.memory_gib", freeze = true }

[sla]
time_max = "3h"
cost_max = 30.0
val_loss_max = 0.6

[preferences.night]
cost = 0.8
time = 0.1
loss = 0.1

[prices]
catalogue = "aws"
gpu_type = "v100"
currency = "EUR"
per_usd = 0.9
spot_share = 0.4
usd_per_kwh = 0.2

[quota]
gpus = 4

[card]
memory_gib = 16.0
fixed_gib = 2.0
gib_per_sample = 0.02
"""

RUNS: tuple[tuple[int, float, int, str, float, float, bool | None], ...] = (
    (64, 0.02, 2, "succeeded", 7200.0, 0.42, True),
    (64, 0.02, 2, "succeeded", 7020.0, 0.43, True),
    (32, 0.01, 2, "succeeded", 9900.0, 0.41, True),
    (64, 0.02, 1, "succeeded", 9000.0, 0.42, True),
    (512, 0.16, 1, "oom_killed", 300.0, 2.1, None),
    (128, 0.04, 2, "succeeded", 5400.0, 0.44, True),
    (128, 0.04, 1, "succeeded", 6600.0, 0.43, True),
    (128, 0.4, 2, "diverged", 900.0, 2.3, None),
    (64, 0.001, 2, "succeeded", 10400.0, 0.95, False),
    (64, 0.02, 4, "failed", 600.0, 1.9, None),
    (64, 0.02, 4, "stopped", 1200.0, 1.2, None),
    (256, 0.08, 2, "succeeded", 4500.0, 0.5, True),
)
"""Batch size, learning rate, GPUs, how it ended, seconds, last validation loss, whether it reached its target."""

OTHER_RUNS: tuple[tuple[int, float, int, str, float, float, bool | None], ...] = (
    (128, 0.05, 1, "succeeded", 3600.0, 0.31, True),
    (256, 0.1, 1, "succeeded", 2700.0, 0.33, True),
)

TRACE = """\
# workload = "zeus_toy"
# family = "zeus"
# default = { batch_size = 32, gpus = 1, gpu_type = "v100", power_limit_w = 250 }
# knobs = ["batch_size", "power_limit_w"]
# cost_column = "energy_j"
batch_size,gpus,power_limit_w,rep,converged,time_to_target_s,energy_j,time_full_s,energy_full_j
32,1,250,1,1,100,1000,300,3000
32,1,250,2,1,110,1100,300,3000
32,1,200,1,1,120,900,300,2500
64,1,250,1,1,80,900,200,2000
64,1,250,2,1,90,950,200,2000
128,1,250,1,0,,,150,1500
"""


def quickstart(folder: Path) -> None:
    """The example as it is published."""
    shutil.copytree(ROOT / "examples" / "quickstart", folder, ignore=shutil.ignore_patterns(".jpo", "*.py", "*.md"))


def team(folder: Path) -> None:
    """Two workloads with one store, prices of a catalogue in euros, SLA targets, a preference of their own, runs that failed."""
    (folder / "runs").mkdir(parents=True)
    (folder / "config.ini").write_bytes(CONFIG.encode())
    (folder / "other.ini").write_text(OTHER_CONFIG)
    (folder / "jpo.toml").write_text(TOML)
    for number, run in enumerate(RUNS):
        write_log(folder, f"night-{number:02}", "cifar10", FIRST_NIGHT + number * DAY, *run)
    for number, run in enumerate(OTHER_RUNS):
        write_log(folder, f"other-{number:02}", "svhn", FIRST_NIGHT + (number + 0.5) * DAY, *run)


def empty(folder: Path) -> None:
    """A folder with a trace of another program's runs, and nothing of JPO."""
    folder.mkdir(parents=True)
    (folder / "trace.csv").write_text(TRACE)


def write_log(
    folder: Path,
    run_id: str,
    dataset: str,
    start: float,
    batch_size: int,
    learning_rate: float,
    gpus: int,
    status: str,
    seconds: float,
    val_loss: float,
    converged: bool | None,
    *more: str,
) -> None:
    """The CSV log of one run in runs/: four equal epochs whose losses fall to the last one."""
    head = {"run_id": run_id, "dataset": dataset, "model": "resnet18", "framework": "pytorch", "batch_size": batch_size}
    head |= {"learning_rate": learning_rate, "epochs": 20, "gpus": gpus, "cpus": 8, "memory_gib": 32, "start": start}
    losses = [(part, val_loss * (5 - part)) for part in (1, 2, 3, 4)]
    rows = [f"{start + seconds * part / 4},{5 * part},{250000 * part},{0.9 * loss:.6g},{loss:.6g}" for part, loss in losses]
    tail = {"end": start + seconds, "status": status, "cpu_seconds": round(seconds * 6.4, 3), "memory_bytes": 12 * 2**30}
    if converged is not None:
        tail["converged"] = str(converged).lower()
    lines = [f"# {name}={value}" for name, value in head.items()]
    lines += [*(f"# {line}" for line in more), "time,epoch,samples,train_loss,val_loss", *rows]
    lines += [f"# {name}={value}" for name, value in tail.items()]
    (folder / "runs" / f"{run_id}.csv").write_text("\n".join(lines) + "\n")
