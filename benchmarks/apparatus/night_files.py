"""The files of a job of nights.py: its config.ini and jpo.toml as a team writes them, and the CSV log of a run."""

from __future__ import annotations

import configparser
import json
import math
import time
import tomllib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from apparatus.night_truth import DIVERGED, MISSED, WELL, Job, first_loss, loss_after, results

SECTIONS = {
    "training": ("batch_size", "learning_rate", "epochs", "weight_decay"),
    "model": ("dropout",),
    "resources": ("gpus", "cpus", "memory_gib"),
}
FIRST_ERROR = 0.07
"""1 - accuracy of the first configuration's model, where jobs report that."""
FASTER = 1e-5
"""Where clocks cannot be faked an hour lasts 36 ms."""


def config_ini(job: Job) -> str:
    """The committed file."""
    lines = ["[workload]", f"dataset = {job.kind}", f"model = net{job.seed}", "framework = pytorch"]
    for section, names in SECTIONS.items():
        if values := [f"{name} = {job.values[name]:g}" for name in names if name in job.values]:
            lines += ["", f"[{section}]", *values]
    return "\n".join([*lines, ""])


def values_in(config: Path) -> dict[str, float]:
    """The values of a config.ini, by name."""
    parser = configparser.ConfigParser()
    parser.read(config, encoding="utf-8")
    return {name: float(text) for section in SECTIONS if section in parser for name, text in parser[section].items()}


def jpo_toml(job: Job, settings: Sequence[str], *, logs: bool) -> str:
    """What the team allows: the ranges of what JPO may change, prices, and where the logs are if it reads them itself.

    The agent decides as it was shipped, so that a night takes a second, unless `agent.learn_budget` is set.

    Args:
        settings: more lines, as TABLE.KEY=VALUE; a value that is not TOML is text.
    """
    unit = {"gpus": "gpu", "cpus": "cpu", "memory_gib": "gib"}
    tables: dict[str, dict[str, str]] = {
        "parameters": {name: limits(job, name) for name in job.values},
        "preference": {"time": "0.5", "cost": "0.5"},
        "prices": {f"usd_per_{unit[name]}_hour": str(usd) for name, usd in job.usd.items()},
        "csv": {"logs": '["runs/*.csv"]' if logs else "[]"},
        "agent": {"learn_budget": '"0s"'},
    }
    for text in settings:
        place, _, value = text.partition("=")
        table, _, key = place.strip().rpartition(".")
        tables.setdefault(table, {})[key] = as_toml(value.strip())
    return "\n".join(
        line for name, table in tables.items() for line in (f"[{name}]", *(f"{k} = {v}" for k, v in table.items()), "")
    )


def as_toml(value: str) -> str:
    try:
        tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return json.dumps(value)
    return value


def limits(job: Job, name: str) -> str:
    """What [parameters] says of one: smallest and largest, or the numbers of GPUs that there are."""
    if name in job.own:
        return job.own[name]
    allowed = job.allowed.get(name)
    if allowed is None:
        return "{ freeze = true }"
    if name == "gpus":
        return f"{{ choices = {[int(n) for n in allowed]} }}"
    more = {"batch_size": ', step = "pow2"', "learning_rate": ', scale = "log"'}.get(name, "")
    return f"{{ min = {min(allowed):g}, max = {max(allowed):.4g}{more} }}"


@dataclass(frozen=True, slots=True)
class Reported:
    """What runs say of their models.

    Attributes:
        metric: "val_loss" with the training loss, or nothing but "val_accuracy" or another one, of which more is better.
        samples: on how many it is measured: the fewer, the more of it is luck.
    """

    metric: str = "val_loss"
    samples: int = 10_000


LOSSES = Reported()


def run_log(job: Job, values: Mapping[str, float], night: int, start: float | None, reports: Reported = LOSSES) -> str:
    """The log of a run with these values, with the luck of that night.

    Args:
        night: negative before the first.
        start: unix seconds; None: it has just ended, and went FASTER.
    """
    them = results(job, {name: np.array([x]) for name, x in values.items()})
    ends, epochs = str(them.ends[0]), float(them.epochs[0])
    luck = np.random.default_rng((job.seed, zlib.crc32(job.kind.encode()), night % 1000))
    seconds = float(them.seconds[0]) * math.exp(job.truth.noise * luck.standard_normal())
    seconds = min(seconds, job.truth.limit_seconds)
    loss = float(them.loss[0]) * math.exp(job.truth.loss_noise * luck.standard_normal())
    lasts = seconds * (1.0 if start else FASTER)
    began = start or time.time() - lasts
    reached = float(them.reached[0])
    trained = epochs * float(them.seconds[0] / them.usual_seconds[0])  # epochs until it failed
    head = {"run_id": f"{job.name}-{night + 1:02}", "dataset": job.kind, "model": f"net{job.seed}", "framework": "pytorch"}
    lines = [f"# {name}={x}" for name, x in {**head, **values}.items()]
    lines += [
        f"# start={began:.6f}",
        f"time,epoch,samples,train_loss,val_loss{'' if reports.metric == LOSSES.metric else f',{reports.metric}'}",
    ]
    for epoch in range(1, int(trained + 1e-9) + 1):
        then = loss * float(loss_after(job.truth, np.array(reached * epoch / epochs)) / loss_after(job.truth, np.array(reached)))
        losses = "nan,nan" if ends == DIVERGED else f"{0.9 * then:.6g},{then:.6g}"
        if reports.metric != LOSSES.metric:
            error = min(1.0, FIRST_ERROR * then / first_loss(job))
            losses = f"{'nan' if ends == DIVERGED else ''},,{1 - luck.binomial(reports.samples, error) / reports.samples:.6g}"
        lines.append(f"{began + lasts * epoch / trained:.6f},{epoch},{epoch * job.truth.samples:.0f},{losses}")
    lines += [f"# end={began + lasts:.6f}", f"# status={WELL if ends == MISSED else ends}"]
    if job.truth.to_target:
        lines.append(f"# converged={'true' if ends == WELL else 'false'}")
    busy = min(1.0, 0.05 + float(them.loader_share[0]))  # of the CPUs
    peak = min(float(them.host_gib[0]), values.get("memory_gib", math.inf))
    lines += [f"# cpu_seconds={busy * values['cpus'] * lasts:.6g}", f"# memory_bytes={peak * 2**30:.0f}"]
    return "\n".join([*lines, ""])
