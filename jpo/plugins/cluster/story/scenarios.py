"""Scenarios: logs, tables of training jobs and drawn jobs on equal processors or a platform, and the rules named for them.

All commands of the lab take them alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from jpo.errors import UsageError, quoted
from jpo.plugins.cluster.grid import Scenario, Site
from jpo.plugins.cluster.machine.discipline import never_fitting
from jpo.plugins.cluster.machine.placement import RESOURCES
from jpo.plugins.cluster.platform.described import read_platform
from jpo.plugins.cluster.platform.platform import Platform, ProcessorKind
from jpo.plugins.cluster.queueing.selection import NAMES, RANDOM
from jpo.plugins.cluster.queueing.simulate import BACKFILLINGS, ELASTIC, Rule
from jpo.plugins.cluster.workload.demand import DemandTable, one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable
from jpo.plugins.cluster.workload.lublin import draw_jobs, draw_work
from jpo.plugins.cluster.workload.swf import read_swf
from jpo.plugins.cluster.workload.training_jobs import TrainingJobs, read_training_jobs
from jpo.wording.numbers import counted

Oversized = Literal["refuse", "drop", "clip"]


@dataclass(frozen=True, slots=True)
class Sources:
    """Where jobs come from, and what runs them.

    Attributes:
        logs: SWF files.
        draw: so many jobs in place of a log, anew for each seed; None: none.
        load: of drawn jobs.
        procs: of the machine; None: as the header of each log says.
        first: the earliest so many jobs of each log; None: all.
        oversized: what becomes of jobs that need more processors than there are.
        platform: a TOML file; None: equal processors.
        kill: end jobs at their requested time, on a platform.
    """

    logs: tuple[Path, ...]
    draw: int | None = None
    load: float = 0.9
    procs: int | None = None
    first: int | None = None
    oversized: Oversized = "refuse"
    platform: Path | None = None
    kill: bool = False


def scenarios_of(sources: Sources, rules: Sequence[Rule], seeds: range, notes: list[str]) -> list[Scenario]:
    """What is named by the sources, at least one; what was left out is noted. `seeds`: of what is drawn."""
    on_machine = on_a_platform if sources.platform else on_equal_processors
    scenarios = on_machine(sources, rules, seeds, notes)
    if not scenarios:
        raise UsageError("jpo cluster", "has no jobs", "name a log by --workload, or --draw some", code="JPO-E744")
    return scenarios


def on_equal_processors(sources: Sources, rules: Sequence[Rule], seeds: range, notes: list[str]) -> list[Scenario]:
    for path in sources.logs:
        if path.suffix.lower() == ".csv":
            raise UsageError(str(path), "is a table of training jobs, which need a platform", "give --platform", code="JPO-E744")
    if any(rule.resources for rule in rules):
        raise UsageError("--resource", "has nothing to select of equal processors", "give --platform", code="JPO-E744")
    if any(rule.elastic for rule in rules):
        remedy = "give --platform, and training jobs (.csv) with min_tasks and max_tasks"
        raise UsageError("--policy", f"+{ELASTIC} has no jobs that could be resized", remedy, code="JPO-E744")
    scenarios = [scenario for path in sources.logs for scenario in logged(path, sources, seeds_of(rules, seeds), notes)]
    if not sources.draw:
        return scenarios
    if sources.procs is None:
        raise UsageError("--draw", "has no machine to draw jobs for", "give --procs", code="JPO-E744")
    drawn = ((seed, draw_jobs(sources.draw, sources.procs, load=sources.load, seed=seed)) for seed in seeds)
    return scenarios + [Scenario("drawn", jobs, sources.procs, seed) for seed, jobs in drawn]


def on_a_platform(sources: Sources, rules: Sequence[Rule], seeds: range, notes: list[str]) -> list[Scenario]:
    """Logs and tables of training jobs on a platform whose nodes differ.

    Raises UsageError: JPO-E741, a job could never run there; JPO-E742, of the platform.
    """
    assert sources.platform is not None
    platform = read_platform(sources.platform)
    if sources.procs is not None:
        raise UsageError("--procs", "is what --platform says", "leave out one of them", code="JPO-E744")
    scenarios = []
    for path in sources.logs:
        work = read_work(path, sources.first, notes)
        jobs, demand = without_misfits(path, work, platform, sources.oversized, notes)
        if demand.elasticity is None and any(rule.elastic for rule in rules):
            notes.append(f"{path.name}: no job has min_tasks below its max_tasks: +{ELASTIC} changes nothing.")
        kind: ProcessorKind = "gpu" if demand.gpus.any() else "cpu"
        site = Site(platform, demand, sources.kill)
        scenarios += [Scenario(path.name, jobs, platform.cores(kind), seed, site) for seed in seeds_of(rules, seeds)]
    if sources.draw:
        devices = platform.cores("gpu") or platform.cores("cpu")
        for seed in seeds:
            jobs, demand = draw_work(sources.draw, platform, load=sources.load, seed=seed)
            scenarios.append(Scenario("drawn", jobs, devices, seed, Site(platform, demand, sources.kill)))
    return scenarios


def read_work(path: Path, first: int | None, notes: list[str]) -> TrainingJobs:
    """A log, or a table of training jobs if it is .csv."""
    if path.suffix.lower() == ".csv":
        work = read_training_jobs(path, first=first)
    else:
        log = read_swf(path, first=first)
        names = tuple(map(str, log.jobs.ids.tolist()))
        work = TrainingJobs(log.jobs, one_core_each(log.jobs), names, log.lines, log.never_ran)
    never_ran(path, work.never_ran, notes)
    return work


def without_misfits(
    path: Path, work: TrainingJobs, platform: Platform, oversized: Oversized, notes: list[str]
) -> tuple[JobTable, DemandTable]:
    """The jobs that can run on a platform; the first that cannot is an error, unless such jobs are dropped."""
    misfits = never_fitting(work.demand, platform)
    if misfits and oversized != "drop":
        place = misfits[0]
        wanted = work.demand.gpu_types[place]
        there = {processor.name for _, node in platform.nodes for processor in node.processors if processor.kind == "gpu"}
        why = f"it has no GPU {quoted(wanted)}" if wanted and wanted not in there else "its tasks do not fit"
        finding = f"job {work.names[place] or place + 1:.80} could never run on platform {platform.name}: {why}"
        remedy = "give the platform more, or --oversized drop"
        raise UsageError(f"{path}:{work.lines[place]}", finding, remedy, code="JPO-E741")
    if misfits:
        notes.append(f"{path.name}: {counted(len(misfits), 'job')} could never run on {platform.name}: left out.")
    kept = np.setdiff1d(np.arange(len(work.jobs)), misfits)
    if not len(kept):
        raise UsageError(str(path), f"has no job that could run on {platform.name}", "give the platform more", code="JPO-E741")
    return work.jobs.rows(kept), work.demand.rows(kept)


def never_ran(path: Path, count: int, notes: list[str]) -> None:
    if count:
        notes.append(f"{path.name}: {counted(count, 'job')} never ran: left out.")


def seeds_of(rules: Sequence[Rule], seeds: range) -> range:
    """Every seed where a rule draws, else the first: all others would find the same."""
    return seeds if any(RANDOM in (rule.selection, rule.resources) for rule in rules) else seeds[:1]


def logged(path: Path, sources: Sources, seeds: range, notes: list[str]) -> list[Scenario]:
    """A log on its machine, with every seed. Raises UsageError: JPO-E741, a job could never run, and there is no rule for it."""
    log = read_swf(path, first=sources.first)
    processors = sources.procs or log.machine_processors
    if processors is None:
        raise UsageError(str(path), "says neither MaxProcs nor MaxNodes", "give --procs", code="JPO-E744")
    never_ran(path, log.never_ran, notes)
    if log.counted_from:
        notes.append(f"{path.name}: submit times are Unix time; they are counted from {log.counted_from:.0f}.")
    jobs, too_large = log.jobs, log.jobs.processors > processors
    if count := int(too_large.sum()):
        if sources.oversized == "refuse":
            place = int(np.argmax(too_large))
            finding = f"job {jobs.ids[place]} needs {jobs.processors[place]} processors of {processors} and could never run"
            remedy = "give more --procs, or --oversized drop or clip"
            raise UsageError(f"{path}:{log.lines[place]}", finding, remedy, code="JPO-E741")
        dropped = sources.oversized == "drop"
        jobs = jobs.rows(~too_large) if dropped else replace(jobs, processors=np.minimum(jobs.processors, processors))
        done = "left out" if dropped else f"given {processors}"
        notes.append(f"{path.name}: {count} jobs need more than {processors} processors and are {done}.")
    if not len(jobs):
        raise UsageError(str(path), f"has no job that fits {processors} processors", "give more --procs", code="JPO-E741")
    return [Scenario(path.name, jobs, processors, seed) for seed in seeds]


def named_rules(policies: Sequence[str], backfillings: Sequence[str], resources: Sequence[str] = ("",)) -> tuple[Rule, ...]:
    """Every policy with every backfilling and resource selection; a policy that names its own has that alone: "saf-pack+easy".

    Raises UsageError: JPO-E744, one of them is unknown.
    """
    backfilled = [known_as("--backfill", word, BACKFILLINGS) for word in words(backfillings)]
    placed = [word and known_as("--resource", word, RESOURCES) for word in words(resources)]
    rules: list[Rule] = []
    for word in words(policies):
        pair, *added = word.split("+")
        name, dash, resource = pair.partition("-")
        known_as("--policy", name, NAMES)
        if dash:
            known_as("--policy", resource, RESOURCES)
        own = [known_as("--policy", one, (*BACKFILLINGS, ELASTIC)) for one in added if one != ELASTIC]
        if len(own) > 1 or len(own) + 1 < len(added):
            raise UsageError("--policy", f"{word!r:.80} says one thing twice", "write e.g. saf+easy+elastic", code="JPO-E744")
        for chosen in [resource] if dash else placed:
            rules += [Rule(name, how, chosen, ELASTIC in added) for how in BACKFILLINGS if how in (own or backfilled)]
    return tuple(dict.fromkeys(rules))


def known_as(option: str, word: str, names: Sequence[str]) -> str:
    if word not in names:
        raise UsageError(option, f"{quoted(word)} is unknown", f"known are {', '.join(names)}", code="JPO-E744")
    return word


def words(given: Sequence[str]) -> list[str]:
    """`a,b` and repeated options as one list, each once."""
    return list(dict.fromkeys(word.strip() for text in given for word in text.split(",")))
