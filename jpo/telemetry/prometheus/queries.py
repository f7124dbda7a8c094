"""PromQL queries about runs: text in, text out, every label value escaped and every name checked (names.py).

Only `*_over_time`, `increase`, `resets`, `offset` and `max`/`min by`: these mean the same on Prometheus, VictoriaMetrics, Thanos
and Mimir. There is no subquery, no query_range and no `rate` over the window: over months of history those time out. Every query
aggregates by run_id first, because a pair of highly available servers reports each series twice. Several quantities of
the same runs are one request: the label `quantity` distinguishes their rows.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote_plus

from jpo.records import COUNTS, PARAMETERS, Identity
from jpo.telemetry import contract
from jpo.telemetry.prometheus.names import Names

LONGEST_PATTERN = 200
"""Characters of run ids or pods that one selector names; beyond, it reads the whole workload. A union has a dozen selectors."""
LONGEST_PATTERN_ALONE = 3500
"""The same for a query with one selector, which reads single samples; it still goes by GET."""
LONGEST_QUERY = 5500
"""Characters in a URL, so that a union goes by GET (session.py), all that some proxies allow. VictoriaMetrics takes 16 kB."""
STILL_SECONDS = 6 * 3600.0
"""A run which is reported, but processed no sample for this long, is over: longer than validations and queues take."""
LAST = "last_over_time({0})"
HIGHEST = "max_over_time({0})"
LOWEST = "min_over_time({0})"
SUM = "sum_over_time({0})"
COUNT = "count_over_time({0})"
P95 = "quantile_over_time(0.95,{0})"
# Increase of a counter that began long before the run. Not `increase`: it extrapolates, and Thanos warns of it where a counter's
# name does not end in _total, as if its answer were partial.
GAIN = "max_over_time({0}) - min_over_time({0}) and resets({0}) == 0"
# A counter that never fell has counted from zero: its highest value is exact. `increase` extrapolates, and is for restarted jobs.
TOTAL = "((max_over_time({0}) and resets({0}) == 0) or increase({0}))"
QUANTITIES = {
    "samples": (contract.SAMPLES, TOTAL),
    "train_loss": (contract.TRAIN_LOSS, LAST),
    "val_loss": (contract.VAL_LOSS, LAST),
    "val_accuracy": (contract.VAL_ACCURACY, LAST),
    "epoch": (contract.EPOCH, HIGHEST),
    "converged": (contract.CONVERGED, LAST),
    "cpu_seconds": (contract.CPU_SECONDS, TOTAL),
    "memory_bytes": (contract.MEMORY_BYTES, HIGHEST),
    "cpu_cores_p95": ("recorded_cpu_cores", P95),
}
"""By field of outcome.MeasuredValues: the role of the metric that holds it, and how its samples become one number. Last samples
are queried per process: a run that was restarted elsewhere has several, of which reported.py takes the latest."""
OWN = "metric"
"""Key of the user's own metric among them, where one is asked for."""
DEFAULT = Names()


def selector(
    identity: Identity,
    run_ids: Sequence[str] = (),
    *,
    names: Names = DEFAULT,
    loose: bool = False,
    longest: int = LONGEST_PATTERN,
) -> str:
    """`{dataset="..",model="..",framework=".."}`, the hardware if it is said, and the runs where they are few enough to name.

    `loose`: series that lack a label of the identity are chosen too; Pushgateway's own metrics have only those of its groups.
    `longest`: characters of run ids; if there are more, none is named.
    """
    matchers = [
        f"{names.label(role)}=~{quoted(re.escape(value) + '|')}" if loose else f"{names.label(role)}={quoted(value)}"
        for role, value in identity.labels.items()
    ]
    if run_ids and (pattern := one_of(run_ids, longest)) is not None:
        matchers.append(f"{names.label('run_id')}=~{pattern}")
    elif loose:
        matchers.append(f'{names.label("run_id")}!=""')
    return "{" + ",".join(matchers) + "}"


def one_of(texts: Sequence[str], longest: int = LONGEST_PATTERN) -> str | None:
    """A quoted pattern that matches exactly these texts; None when it would be too long."""
    pattern = quoted("|".join(re.escape(text) for text in texts))
    return pattern if len(pattern) <= longest else None


def quoted(text: str) -> str:
    """A PromQL string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def window(begin: float, until: float) -> str:
    """`[...ms]` back from `until` to just after `begin`: servers disagree on whether the left edge belongs to it."""
    return f"[{max(1, int((until - begin) * 1000) - 1)}ms]"


def unions(asked: Mapping[str, str]) -> list[str]:
    """Combined queries that answer all of these, each row with its key as label `quantity`."""
    combined: list[str] = []
    for quantity, query in asked.items():
        marked = f'label_replace({query},"quantity","{quantity}","","")'
        if combined and len(quote_plus(combined[-1] + marked)) < LONGEST_QUERY:
            combined[-1] += f" or {marked}"
        else:
            combined.append(marked)
    return combined


def discovery(names: Names, chosen: str, loosely: str, span: str, *, mark_seconds: float | None) -> dict[str, str]:
    """Queries for the runs that reported in the window, when they started and ended, and which are running.

    A run is running while some process reports it without an end; queried per process, because a restarted run may have the end
    of its first attempt. What a Pushgateway holds is reported for ever: `pushed` says when it was pushed last, `still` that its
    samples have not moved for STILL_SECONDS, but did in as long before the mark, which was `mark_seconds` ago (None: ever).
    """
    info, start, end = (names.metric(role) + chosen for role in (contract.RUN_INFO, contract.START, contract.END))
    samples, pushes = names.metric(contract.SAMPLES) + chosen, names.metric("push_time_seconds") + loosely
    run = names.label("run_id")
    process = ", ".join(_process(names))
    still = f"{samples} == {samples} offset {STILL_SECONDS:.0f}s"
    if mark_seconds is not None:
        still += f" unless {samples} == {samples} offset {mark_seconds + STILL_SECONDS:.0f}s"
    return {
        "run": f"max by ({run}) (last_over_time({info}{span}))",
        # The first attempt's start, but not the 0 that a gauge shows before it is set.
        "start": f"min by ({run}) (min_over_time({start}{span}) > 0 or last_over_time({start}{span}) > 0)",
        "end": f"max by ({run}) (last_over_time({end}{span}) > 0)",
        "going": f"max by ({run}) ({info} unless on ({process}) ({end} > 0))",
        # Another workload may have a run of this name.
        "pushed": f"max by ({run}) (last_over_time({pushes}{span}) and on ({run}, job, instance) last_over_time({info}{span}))",
        "still": f"max by ({run}) ({still})",
    }


def descriptions(names: Names, chosen: str, span: str) -> dict[str, str]:
    """Queries for configuration and pods of the runs, and for the status with which they ended."""
    labels = [
        name
        for role in (*PARAMETERS, *COUNTS, *names.own.parameters, "namespace", "pod", "container")
        for name in names.labelled(role)
    ]
    run, status = names.label("run_id"), names.label("status")
    return {
        "info": f"max by ({', '.join([run, *labels])}) (last_over_time({names.metric(contract.RUN_INFO)}{chosen}{span}))",
        "ending": f"max by ({run}, {status}) (last_over_time({names.metric(contract.STATUS)}{chosen}{span})) == 1",
    }


def quantities(names: Names, chosen: str, span: str) -> dict[str, str]:
    """Queries for QUANTITIES, and for the metric of the user's own where there is one."""
    run, process = names.label("run_id"), ", ".join(_process(names))
    asked = {
        quantity: f"max by ({process if how == LAST else run}) ({how.format(names.metric(role) + chosen + span)})"
        for quantity, (role, how) in QUANTITIES.items()
    }
    if names.own_metric is not None:
        asked[OWN] = f"max by ({process}) ({LAST.format(names.metric(contract.OWN_METRIC) + own(names, chosen) + span)})"
    return asked


def own(names: Names, chosen: str) -> str:
    """The selector of the user's own metric; a site that calls the whole metric otherwise has no label `metric` on it."""
    if names.own_metric is None or contract.OWN_METRIC in names.metrics:
        return chosen
    return f"{chosen[:-1]},metric={quoted(names.own_metric.name)}}}"


def silences(names: Names, chosen: str, span: str) -> dict[str, str]:
    """Queries for the seconds at its end in which a run reported samples, but not this loss.

    By a function that only VictoriaMetrics has. Queried per process: one that died before its first validation is no such case.
    """
    run, process = names.label("run_id"), ", ".join(_process(names))
    last = {
        role: f"max by ({process}) (tlast_over_time({names.metric(role)}{chosen}{span}))"
        for role in (contract.SAMPLES, contract.TRAIN_LOSS, contract.VAL_LOSS)
    }
    return {
        loss: f"max by ({run}) ({last[contract.SAMPLES]} - {last[role]}) > 1"
        for loss, role in (("train_loss", contract.TRAIN_LOSS), ("val_loss", contract.VAL_LOSS))
    }


def _process(names: Names) -> list[str]:
    """The labels that distinguish the reporting processes of one run."""
    return [names.label("run_id"), "job", "instance", *names.labelled("namespace"), *names.labelled("pod")]
