"""The PromQL that JPO asks: text in, text out, every label value escaped.

Only `*_over_time`, `increase`, `resets` and `max`/`min by`: these mean the same on Prometheus, VictoriaMetrics, Thanos
and Mimir. There is no subquery, no query_range and no `rate` over the window: over months of history those time out.
Every query aggregates by run_id first, because a pair of highly available servers reports each series twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jpo.records import PARAMETERS, Identity
from jpo.telemetry import contract

MOST_NAMED_RUNS = 200
"""Up to so many run ids a query names them; beyond, it reads the whole workload."""

LAST = "last_over_time({0})"
HIGHEST = "max_over_time({0})"
# A counter that never fell has counted from zero: its highest value is exact. `increase` extrapolates, and is for restarted jobs.
TOTAL = "((max_over_time({0}) and resets({0}) == 0) or increase({0}))"
QUANTITIES = {
    "samples": (contract.SAMPLES, TOTAL),
    "train_loss": (contract.TRAIN_LOSS, LAST),
    "val_loss": (contract.VAL_LOSS, LAST),
    "epoch": (contract.EPOCH, HIGHEST),
    "converged": (contract.CONVERGED, LAST),
    "cpu_seconds": (contract.CPU_SECONDS, TOTAL),
    "memory_bytes": (contract.MEMORY_BYTES, HIGHEST),
}
"""Field of measured.Values: the metric that holds it, and how its samples become one number."""

TARGET = "run_id, job, instance, namespace, pod"
"""Labels that tell one reporting process from another of the same run."""


def selector(identity: Identity, run_ids: Sequence[str] = ()) -> str:
    """`{dataset="..",model="..",framework=".."}`, and the runs where they are few enough to name."""
    wanted = {"dataset": identity.dataset, "model": identity.model, "framework": identity.framework}
    matchers = [f"{label}={quoted(value)}" for label, value in wanted.items()]
    if 0 < len(run_ids) <= MOST_NAMED_RUNS:
        matchers.append(f"run_id=~{quoted('|'.join(re.escape(run_id) for run_id in run_ids))}")
    return "{" + ",".join(matchers) + "}"


def quoted(text: str) -> str:
    """A PromQL string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def window(begin: float, until: float) -> str:
    """`[...ms]` back from `until` to just after `begin`: servers disagree on whether the left edge belongs to it."""
    return f"[{max(1, int((until - begin) * 1000) - 1)}ms]"


def discovery(chosen: str, span: str) -> str:
    """Which runs reported in the window, when they began and ended, and which go on: rows marked by the label `seen`.

    A run goes on while some process reports it without an end; asked per process, because a restarted run may have the end of
    its first attempt.
    """
    start, end = f"{contract.START}{chosen}", f"{contract.END}{chosen}"
    asked = {
        "run": f"max by (run_id) (last_over_time({contract.RUN_INFO}{chosen}{span}))",
        "start": f"min by (run_id) (last_over_time({start}{span}) > 0)",
        "end": f"max by (run_id) (last_over_time({end}{span}) > 0)",
        "going": f"max by (run_id) ({contract.RUN_INFO}{chosen} unless on ({TARGET}) ({end} > 0))",
    }
    return " or ".join(f'label_replace({query}, "seen", "{mark}", "", "")' for mark, query in asked.items())


def reports(chosen: str, span: str) -> str:
    """Each single report of the runs: for those which do not tell their start or end."""
    return f"{contract.RUN_INFO}{chosen}{span}"


def configuration(chosen: str, span: str) -> str:
    return f"max by (run_id, {', '.join(PARAMETERS)}) (last_over_time({contract.RUN_INFO}{chosen}{span}))"


def endings(chosen: str, span: str) -> str:
    return f"max by (run_id, status) (last_over_time({contract.STATUS}{chosen}{span})) == 1"


def quantity(field: str, chosen: str, span: str) -> str:
    metric, how = QUANTITIES[field]
    return f"max by (run_id) ({how.format(metric + chosen + span)})"
