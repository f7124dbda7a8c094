"""`jpo cluster test --options` and `train --options`: what an options file of HDeepRM asks for, with real run times.

Of the log, jobs that ask for at most nb_resources processors count; nb_jobs of them are drawn with the seed. Each processor is a
task on one core. Memory is requested, else used memory of the log where it says so (KB per processor); memory bandwidth is no
part of such logs and is drawn from 4, 8 ... 24 GB/s, as HDeepRM does. Run times are the true ones, on the reference machine.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from jpo.errors import UsageError, quoted
from jpo.plugins.cluster.environment.episode import PAIR_JOBS
from jpo.plugins.cluster.grid import Scenario, Site, evaluate
from jpo.plugins.cluster.machine.discipline import never_fitting
from jpo.plugins.cluster.platform.hdeeprm import LegacyOptions, read_legacy_options, read_legacy_platform
from jpo.plugins.cluster.queueing.simulate import Rule
from jpo.plugins.cluster.report.evaluation import Evaluated
from jpo.plugins.cluster.schedule import DeviceSchedule, device_schedule, intervals
from jpo.plugins.cluster.story.agents import Lessons
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.swf import read_swf
from jpo.wording.numbers import counted

BANDWIDTHS_GBPS = np.arange(4.0, 25.0, 4.0)
KB_PER_GIB = 2.0**20


def read(path: Path) -> tuple[LegacyOptions, Scenario, list[str]]:
    """The options of a file with the jobs and the platform that they name; notes of what was left out."""
    options = read_legacy_options(path)
    log, platform = read_swf(options.workload), read_legacy_platform(options.platform)
    rng = np.random.default_rng(options.seed)
    fitting = np.flatnonzero(log.jobs.processors <= min(options.nb_resources, platform.cores("cpu")))
    if not len(fitting):
        finding = f"has no job for {options.nb_resources} cores"
        raise UsageError(str(options.workload), finding, "raise nb_resources", code="JPO-E741")
    chosen = np.sort(rng.choice(fitting, size=min(options.nb_jobs, len(fitting)), replace=False))
    jobs = log.jobs.rows(chosen)
    memory = log.memory_kb[chosen] / KB_PER_GIB
    demand = one_core_each(jobs, memory, rng.choice(BANDWIDTHS_GBPS, size=len(jobs)))
    kept = np.setdiff1d(np.arange(len(jobs)), never_fitting(demand, platform))
    if not len(kept):
        raise UsageError(str(options.workload), f"has no job that fits {platform.name}", "name another platform", code="JPO-E741")
    lost = len(jobs) - len(kept)
    notes = [f"{counted(lost, 'job')} could never run on {platform.name}: left out."] if lost else []
    if len(chosen) < options.nb_jobs:
        notes.append(f"The log has {len(chosen)} jobs for {options.nb_resources} cores, fewer than nb_jobs = {options.nb_jobs}.")
    site = Site(platform, demand.rows(kept))
    return options, Scenario(options.workload.name, jobs.rows(kept), platform.cores("cpu"), options.seed, site), notes


def refuse_unnamed(path: Path, options: LegacyOptions, agent: str | None) -> None:
    """Raise UsageError, JPO-E748, where an options file names code that the command line does not: it would run unseen."""
    if options.agent.file and not agent:
        finding = f"pybatsim.agent.file = {quoted(options.agent.file)} is code, which runs only where the command line names it"
        remedy = f"add --agent {Path(options.agent.file).name:.80}:CLASS, or drop it"
        raise UsageError(str(path), finding, remedy, code="JPO-E748")


def classic(options: LegacyOptions, scenario: Scenario, notes: list[str]) -> tuple[Evaluated, DeviceSchedule]:
    """A pair of policies on the jobs: all figures, HDeepRM's six objectives among them, and what was decided when."""
    assert options.agent.pair is not None
    job, resource = options.agent.pair
    rule = Rule(PAIR_JOBS[job], "none", resource)
    return Evaluated((evaluate(scenario, rule),), tuple(notes)), device_schedule(scenario, rule)


def decisions(found: DeviceSchedule) -> Iterator[str]:
    """The log of decisions, one line each, in the order of time."""
    for job in np.argsort(found.starts, kind="stable").tolist():
        yield f"{found.starts[job]:.3f}: job {found.jobs.ids[job]} starts on {intervals(found.devices[job])}"


def lessons(options: LegacyOptions, scenario: Scenario, rounds: int) -> Lessons:
    """What a learning agent of such a file learns, and how: REINFORCE over all jobs as one sequence."""
    agent = options.agent
    numbers = (agent.hidden, agent.lr, agent.gamma, options.seed)
    return Lessons("reinforce", options.episode, options.objective, 1, rounds, 4, len(scenario.jobs), 1.0, *numbers)
