"""A long history, put on record by the product's own store: runs, suggestions, what was written, and the audit log of it all.

A tenth as many suggestions as runs, each a change that was written; the first two runs after one have its values, and no others
have the same configuration, which is the hard case: what is equal is counted together.
"""

from __future__ import annotations

import hashlib
import math
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2])]

from jpo.history import Store, open_store  # noqa: E402
from jpo.history.audit import AuditEvent  # noqa: E402
from jpo.records import Change, Finished, Identity, Outcome, Run, RunStatus, Suggestion  # noqa: E402

EVERY, FOLLOWING = 10, 2
"""Runs for each suggestion, and how many of them have its values."""
AT_ONCE = 500
"""Runs in a transaction, as in a first contact with logs."""
APART_SECONDS = 600.0


def project(folder: Path, jpo: Path, config: str, settings: str, shape: Sequence[int]) -> None:
    """A project whose store holds so many runs of each workload, the first its own; suggestions are like one that it made."""
    (folder / ".git").mkdir(parents=True)
    (folder / "config.ini").write_text(config, encoding="utf-8")
    (folder / "jpo.toml").write_text(settings, encoding="utf-8")
    url, ended = f"sqlite:///{folder / '.jpo' / 'jpo.db'}", time.time() - 86400
    of, chance = Identity("scale", "net0", "pytorch"), random.Random(1)  # noqa: S311 - no secret
    with open_store(url) as store:
        store.record(Finished(tuple(runs_of(of, 20, (), chance, ended - APART_SECONDS * max(shape), name="first"))), now=ended)
    set_by_hand = ("--offline", "--no-learn", "--set", "batch_size=128", "-o", "json")
    subprocess.run([jpo, "suggest", "config.ini", *set_by_hand], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (folder / "config.ini").write_text(config, encoding="utf-8")
    with open_store(url) as store:
        (made,) = store.suggestions_of()
    fill(url, shape, made, ended=ended)


def fill(url: str, shape: Sequence[int], made: Suggestion, *, ended: float) -> None:
    """Put so many runs of each workload on record, the last ones `ended` (unix seconds); suggestions are made like `made`."""
    chance = random.Random(0)  # noqa: S311 - no secret
    with open_store(url, timeout_seconds=600, deadline_seconds=36_000) as store:
        for workload, runs in enumerate(shape):
            of = Identity("scale", f"net{workload}", "pytorch")
            suggestions = list(suggestions_of(of, runs, made, chance, ended - workload))
            for each in suggestions:
                append(store, each)
            several = list(runs_of(of, runs, suggestions, chance, ended - workload))
            for at in range(0, runs, AT_ONCE):
                store.record(Finished(tuple(several[at : at + AT_ONCE])), now=ended)


def suggestions_of(of: Identity, runs: int, made: Suggestion, chance: random.Random, ended: float) -> Iterator[Suggestion]:
    """Changes from one configuration to the next, each a moment before the runs that follow it."""
    values = [configuration(chance) for _ in range(runs // EVERY + 1)]
    for number, (before, then) in enumerate(pairwise(values)):
        changes = tuple(changed(made.changes[0], made.values.keys[name], name, before[name], then[name]) for name in then)
        about = replace(made.values, current=before, suggested=then)
        when = ended - APART_SECONDS * (runs - EVERY * number) - 2
        suggestion_id = f"s-{of.model}-{number}"
        yield replace(
            made, suggestion_id=suggestion_id, identity=of, created_at=when, status="changed", values=about, changes=changes
        )


def changed(like: Change, key: str, name: str, old: float, new: float) -> Change:
    return replace(like, parameter=name, key=key, old=old, new=new, old_text=f"{old:g}", new_text=f"{new:g}")


def append(store: Store, made: Suggestion) -> None:
    """As `jpo suggest` does it: on record, then written."""
    read, planned = (hashlib.sha256(f"{made.suggestion_id} {when}".encode()).hexdigest() for when in ("before", "after"))
    store.append(made, config="config.ini", source_digest=read, planned_digest=planned)
    said = {"suggestion_id": made.suggestion_id, "config": "config.ini", "source_digest": read, "written_digest": planned}
    store.audit(AuditEvent("written", made.created_at, made.identity, said))


def runs_of(
    of: Identity, runs: int, suggestions: Sequence[Suggestion], chance: random.Random, ended: float, *, name: str = "r"
) -> Iterator[Run]:
    for number in range(runs):
        follows = number % EVERY < FOLLOWING and number // EVERY < len(suggestions)
        values = dict(suggestions[number // EVERY].values.suggested) if follows else configuration(chance)
        start = ended - APART_SECONDS * (runs - number)
        outcome = outcome_of(values, chance)
        end = start + APART_SECONDS - 5
        yield Run(f"{name}-{of.model}-{number}", of, values, RunStatus.SUCCEEDED, start, end, outcome, source="csv")


def configuration(chance: random.Random) -> dict[str, float]:
    """One that no other run has: its rate is drawn from a continuum."""
    batch, gpus, cpus = 2 ** chance.randint(4, 11), 2 ** chance.randint(0, 3), chance.randint(2, 32)
    return {"batch_size": batch, "learning_rate": 10 ** chance.uniform(-3.5, -1.2), "gpus": gpus, "cpus": cpus}


def outcome_of(values: dict[str, float], chance: random.Random) -> Outcome:
    batch, gpus, rate = values["batch_size"], values["gpus"], values["learning_rate"]
    step = 0.02 + batch / gpus * 5e-4 + 0.01 * (gpus - 1) / gpus
    loss = 0.3 * (1 + 0.1 * math.log(rate / 0.02) ** 2) * chance.lognormvariate(0, 0.01)
    seconds = 4e5 / batch * step * chance.lognormvariate(0, 0.05)
    use = {"gpu_utilisation": chance.uniform(0.4, 0.9), "cpu_utilisation": 0.5, "memory_gib": 7.5, "gpu_memory_gib": 6.0}
    return Outcome(duration_seconds=seconds, samples=4e5, train_loss=loss, val_loss=loss, epochs=10.0, **use)
