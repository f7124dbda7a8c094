"""`jpo cluster evaluate`: what waits, slowdowns and utilisation would be under other policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from jpo.cluster.claim import Claim, parsed
from jpo.cluster.grid import ParallelBackend, Scenario, Track, evaluate_all
from jpo.cluster.queueing.selection import NAMES, RANDOM
from jpo.cluster.queueing.simulate import BACKFILLINGS, Rule
from jpo.cluster.workload.lublin import draw_jobs
from jpo.cluster.workload.swf import SwfLog, read_swf
from jpo.errors import NothingAdmissible, UsageError
from jpo.report.cluster.evaluation import Evaluated

Oversized = Literal["refuse", "drop", "clip"]


@dataclass(frozen=True, slots=True)
class Sources:
    """Where jobs come from, and what runs them.

    Attributes:
        logs: SWF files.
        drawn: draw so many jobs in place of a log, anew for each seed; 0: none.
        load: of drawn jobs.
        processors: of the machine; None: as the header of each log says.
        first: the earliest so many jobs of each log; None: all.
        oversized: what becomes of jobs that need more processors than there are.
    """

    logs: tuple[Path, ...]
    drawn: int = 0
    load: float = 0.9
    processors: int | None = None
    first: int | None = None
    oversized: Oversized = "refuse"


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """Options of the command line; see `jpo cluster evaluate --help`."""

    rules: tuple[Rule, ...]
    seeds: range
    claims: tuple[Claim, ...] = ()
    processes: int | None = None
    backend: ParallelBackend = "loky"


def evaluate(sources: Sources, options: EvaluateOptions, *, track: Track) -> Evaluated:
    """Every rule on every workload with every seed."""
    notes: list[str] = []
    scenarios = [scenario for path in sources.logs for scenario in logged(path, sources, options, notes)]
    scenarios += drawn(sources, options.seeds)
    if not scenarios:
        raise UsageError("jpo cluster evaluate", "has no jobs", "name a log by --workload, or --draw some", code="JPO-E734")
    found = evaluate_all(scenarios, options.rules, processes=options.processes, backend=options.backend, track=track)
    return Evaluated(found, tuple(notes))


def fail_if(claims: Sequence[Claim], evaluated: Evaluated) -> None:
    """Raise NothingAdmissible, JPO-E736, where a claim is true."""
    for claim in claims:
        if finding := claim.holds(evaluated.evaluations):
            raise NothingAdmissible("--fail-if", f"{claim.text!r} is true: {finding}", code="JPO-E736")


def logged(path: Path, sources: Sources, options: EvaluateOptions, notes: list[str]) -> list[Scenario]:
    """A log on its machine; with every seed where a rule draws, else with the first."""
    log = read_swf(path, first=sources.first)
    processors = sources.processors or log.machine_processors
    if processors is None:
        raise UsageError(str(path), "says neither MaxProcs nor MaxNodes", "give --procs", code="JPO-E734")
    if log.never_ran:
        notes.append(f"{path.name}: {log.never_ran} jobs never ran and are left out.")
    if log.counted_from:
        notes.append(f"{path.name}: submit times are Unix time; they are counted from {log.counted_from:.0f}.")
    jobs, too_large = log.jobs, log.jobs.processors > processors
    if count := int(too_large.sum()):
        refuse_oversized(path, log, processors, sources.oversized)
        jobs = (
            jobs.rows(~too_large)
            if sources.oversized == "drop"
            else jobs.with_processors(np.minimum(jobs.processors, processors))
        )
        done = "left out" if sources.oversized == "drop" else f"given {processors}"
        notes.append(f"{path.name}: {count} jobs need more than {processors} processors and are {done}.")
    if not len(jobs):
        raise UsageError(str(path), f"has no job that fits {processors} processors", "give more --procs", code="JPO-E731")
    seeds = options.seeds if any(rule.selection == RANDOM for rule in options.rules) else options.seeds[:1]
    return [Scenario(path.name, jobs, processors, seed) for seed in seeds]


def refuse_oversized(path: Path, log: SwfLog, processors: int, oversized: Oversized) -> None:
    """Raise UsageError, JPO-E731, for the first job that could never run, unless there is a rule for it."""
    if oversized != "refuse":
        return
    place = int(np.argmax(log.jobs.processors > processors))
    finding = f"job {log.jobs.ids[place]} needs {log.jobs.processors[place]} processors of {processors} and could never run"
    raise UsageError(f"{path}:{log.lines[place]}", finding, "give more --procs, or --oversized drop or clip", code="JPO-E731")


def drawn(sources: Sources, seeds: range) -> list[Scenario]:
    """Jobs drawn at random, others for each seed."""
    if not sources.drawn:
        return []
    if sources.processors is None:
        raise UsageError("--draw", "has no machine to draw jobs for", "give --procs", code="JPO-E734")
    size = sources.processors
    return [Scenario("drawn", draw_jobs(sources.drawn, size, load=sources.load, seed=seed), size, seed) for seed in seeds]


def named_rules(policies: Sequence[str], backfillings: Sequence[str]) -> tuple[Rule, ...]:
    """Every policy with every backfilling; a policy that names its own ("saf+easy") has that alone.

    Raises:
        UsageError: JPO-E734, one of them is unknown.
    """
    known = [
        backfilling
        for word in words(backfillings)
        for backfilling in BACKFILLINGS
        if known_as("--backfill", word, BACKFILLINGS) == backfilling
    ]
    rules = []
    for word in words(policies):
        name, plus, own = word.partition("+")
        known_as("--policy", name, NAMES)
        if plus:
            known_as("--policy", own, BACKFILLINGS)
        rules += [Rule(name, backfilling) for backfilling in BACKFILLINGS if backfilling in ([own] if plus else known)]
    return tuple(dict.fromkeys(rules))


def known_as(option: str, word: str, names: Sequence[str]) -> str:
    """A word that is one of the names."""
    if word not in names:
        raise UsageError(option, f"{word!r:.80} is unknown", f"known are {', '.join(names)}", code="JPO-E734")
    return word


def words(given: Sequence[str]) -> list[str]:
    """`a,b` and repeated options as one list, each once."""
    return list(dict.fromkeys(word.strip() for text in given for word in text.split(",")))


def named_claims(texts: Sequence[str], rules: Sequence[Rule]) -> tuple[Claim, ...]:
    """The sentences of --fail-if."""
    return tuple(parsed(text, [rule.name for rule in rules]) for text in texts)
