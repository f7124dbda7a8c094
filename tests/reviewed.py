"""A store with a history of months, for tests of the report: suggestions that were written, and the runs that followed them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

from made import a_run, a_suggestion, altered

from jpo.history import AuditEvent, Store
from jpo.records import Change, Finished, Forecast, Identity, Interval, Outcome, Run, RunStatus, Suggestion

BEGAN, DAY = 1_750_000_000.0, 86_400.0
SIZES = (64.0, 64.0, 128.0, 256.0, 512.0, 256.0)
"""Batch sizes, one after the other; the job takes less time with the larger ones, and 512 fails now and then."""


def a_month_of(
    identity: Identity, *, suggestions: int, seed: int = 0, before: int = 8, sizes: Sequence[float] = SIZES
) -> Iterator[Run | Suggestion]:
    """Runs without JPO, then a suggestion and its run, day by day."""
    chance = random.Random(seed)
    for day in range(before):
        yield run_of(identity, f"{identity.model}-{day}", BEGAN + day * DAY, sizes[0], chance)
    last = len(sizes) - 1
    for number in range(suggestions):
        at = BEGAN + (before + number) * DAY
        now, then = (sizes[min(last, at // max(1, suggestions // last))] for at in (max(0, number - 1), number))
        yield suggestion_of(identity, f"s-{identity.dataset}-{number}", at, now, then)
        yield run_of(identity, f"{identity.model}-{before + number}", at + 3600, then, chance)


def expected(size: float) -> float:
    return 4000 + 600_000 / size


def run_of(identity: Identity, run_id: str, started: float, size: float, chance: random.Random) -> Run:
    failed = size == 512 and chance.random() < 0.2
    seconds = expected(size) * chance.lognormvariate(0, 0.05) * (0.3 if failed else 1)
    outcome = Outcome(
        duration_seconds=seconds, val_loss=None if failed else 0.3 + size / 10_000, gpu_utilisation=0.4 + size / 2000
    )
    status = RunStatus.OOM_KILLED if failed else RunStatus.SUCCEEDED
    values = {"batch_size": size, "gpus": 2.0, "cpus": 8.0, "memory_gib": 64.0}
    return a_run(
        run_id, started + seconds, identity=identity, started_at=started, parameters=values, status=status, outcome=outcome
    )


def suggestion_of(identity: Identity, suggestion_id: str, at: float, now: float, then: float) -> Suggestion:
    changes = (Change("batch_size", "training.batch_size", now, then, f"{now:g}", f"{then:g}", "GPU is idle", 0.9),)
    seconds = expected(then)
    fixed = {"gpus": 2.0, "cpus": 8.0, "memory_gib": 64.0}
    made = a_suggestion(
        suggestion_id,
        at,
        identity=identity,
        status="changed" if now != then else "kept",
        changes=changes if now != then else (),
        keys={name: f"training.{name}" for name in ("batch_size", *fixed)},
        current={"batch_size": now, **fixed},
        suggested={"batch_size": then, **fixed},
        now=Forecast(Interval(expected(now), 0.9 * expected(now), 1.1 * expected(now))),
        next=Forecast(Interval(seconds, 0.92 * seconds, 1.09 * seconds)),
    )
    return altered(made, decided_by="belief" if (at - BEGAN) % (3 * DAY) else "sac")


def put(store: Store, entries: Iterable[Run | Suggestion]) -> None:
    """All of it on record, as `jpo suggest` and `jpo observe` would have done it."""
    for entry in entries:
        if isinstance(entry, Run):
            store.record(Finished((entry,)), now=entry.ended_at + 60)
            continue
        store.append(entry, config="config.ini", source_digest="0" * 64)
        if entry.changes:
            data = {"suggestion_id": entry.suggestion_id, "config": "config.ini"}
            store.audit(AuditEvent("written", entry.created_at + 1, entry.identity, data))
