"""The request of a project: what jpo.toml, config.ini and the command line want and allow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import constraints
from constraints import Facts
from jpo import config
from jpo.agent.action import Allowed
from jpo.agent.budget import Boldness, Explore
from jpo.cost import usd_per_hour
from jpo.errors import UsageError
from jpo.optimizer.request import Goals, Request
from jpo.optimizer.suggestion import gpu_memory_gib_now, number_in
from jpo.project.checkout.branch import explore_here
from jpo.project.load import LoadedSettings
from jpo.project.project import Project
from jpo.project.proposal import guarded
from jpo.project.record import refuse
from jpo.project.tables.parameters import ParameterTable, is_own
from jpo.records import (
    QUALITIES,
    Known,
    Parameter,
    Parameters,
    PolicyName,
    Quality,
    Reach,
    Run,
    own_quality,
    quality_measured,
    same,
)

ParameterTables = Mapping[str, ParameterTable]


def request_of(
    job: Project, known: Known, *, chosen: Parameters | None = None, policy: PolicyName | None = None, done_by: bool = False
) -> Request:
    """The request that belief, agent and explanation work on.

    Args:
        known: its reaches are those of parameters that runs did not take as they were given: they say what today's values really
            are, and no more is asked.
        chosen: values that the user sets by hand.
        policy: who decides in comparisons; None: who the settings say.
        done_by: whether the target of time is one of waiting and running.
    """
    settings, runs = job.settings.values, known.runs
    agent, tables = settings.agent, settings.parameters
    within = [] if chosen else [reach for reach in known.reaches if reach.parameter in job.workload.current]
    unclear = {reach.parameter for reach in within if reach.value is None}
    current, kept = as_run(job, within)
    in_file = {name: job.workload.current[name] for name in kept}
    facts = Facts(gpu_memory_gib_now=gpu_memory_gib_now(job.workload.current, runs))

    def admissible(today: Parameters, proposed: Parameters) -> bool:
        moved = (reach for reach in within if proposed[reach.parameter] != today[reach.parameter])
        if not all(reach.allows(proposed[reach.parameter]) for reach in moved):
            return False
        if today == current:  # the guard judges what is in the file
            today, proposed = job.workload.current, {**proposed, **in_file}
        about = facts if today == job.workload.current else Facts()
        if job.limits.prices.catalogue:
            about = replace(about, usd_per_hour_next=usd_per_hour(proposed, job.prices))
        return constraints.approves(today, proposed, job.limits, about)

    def as_written(name: str, number: float) -> float:
        parameter = job.workload.parameter(name)
        return number_in(parameter, config.format_value(parameter, number))

    qualities = qualities_of(job.settings, runs)
    wanted = Goals(
        job.preference,
        job.targets,
        done_by=done_by,
        usd_per_saved_hour=settings.preference.usd_per_saved_hour,
        quality=quality_of(job.settings, runs, qualities),
        qualities=qualities,
        quality_floor=quality_floor(job.settings),
        quality_risk=agent.quality_risk,
    )
    boldness = Boldness(
        explore_here(job.settings),
        agent.confidence,
        agent.min_confidence,
        agent.budget,
        agent.trials,
        nightly=True,
        exploration_runs=agent.exploration_runs,
        baseline_left=baseline_left(job, runs, current),
        fallback=job.settings.fallback,
        goal=agent.goal,
    )
    with_a_most = {name for name, table in tables.items() if table.max is not None or table.choices}
    allowed = Allowed(
        [p.name for p in job.workload.parameters if not p.held and p.name not in unclear | kept],
        admissible,
        dict(choices_of(job.workload.parameters, tables)),
        {p.name: table.scale for p in job.workload.parameters if (table := tables.get(p.term)) and table.scale},
        followed_parameters(job),
        job.workload.terms,
        as_written,
        bounded=[p.name for p in job.workload.parameters if {p.term, p.name} & with_a_most],
        room_gib=job.limits.quota.memory_gib,
        chosen=chosen or {},
    )
    return Request(
        current,
        allowed,
        wanted,
        boldness,
        job.prices,
        job.currency,
        as_run={**dict.fromkeys(kept, lambda _in_file: None), **{r.parameter: r.really for r in within if r.parameter in kept}},
        horizon_runs=None if agent.horizon_runs == "auto" else agent.horizon_runs,
        policy=policy or agent.policy,
        resets=agent.resets,
    )


def baseline_left(job: Project, runs: Sequence[Run], current: Parameters) -> int:
    """How many runs that end well with today's values [agent] baseline_runs still waits for; 0 once JPO has changed something."""
    wanted = job.settings.values.agent.baseline_runs
    if not wanted or job.store.newest_change(job.workload.identity):
        return 0
    return max(0, wanted - sum(run.ended_well and same(run.parameters, current) for run in runs))


def as_run(job: Project, reaches: Sequence[Reach]) -> tuple[Parameters, frozenset[str]]:
    """Today's values as the job runs with them, and the names of those of which config.ini keeps its own.

    Another one is written only where it is known how far the job goes, the parameter may change, and the guard lets it.
    """
    workload, really, kept = job.workload, dict(job.workload.current), set[str]()
    free = {p.name for p in workload.parameters if not p.held}
    for reach in reaches:
        name, value = reach.parameter, reach.really(really[reach.parameter])
        if value is None:
            continue
        written = {**workload.current, name: value}
        if reach.value is None or name not in free or not constraints.approves(workload.current, written, job.limits, Facts()):
            kept.add(name)
        really[name] = value
    if "gpus" in kept and workload.terms.batch_per_device:
        kept.add("batch_size")  # the file's batch is on each of its GPUs, however many there really are
    return really, frozenset(kept & really.keys())


def quality_floor(settings: LoadedSettings) -> float | None:
    """By which share the quality of a model may be worse than the reference's; None: the preference says so alone."""
    floor = settings.values.agent.quality_floor
    return None if floor == "off" else floor


def qualities_of(settings: LoadedSettings, runs: Sequence[Run]) -> tuple[Quality, ...]:
    """The qualities that models may be measured by: JPO's own, and the metric of [metric]."""
    metric = settings.values.metric
    if metric.name is None or metric.direction is None:
        return QUALITIES
    return (*QUALITIES, own_quality(metric.name, metric.direction, metric.best, runs))


def quality_of(settings: LoadedSettings, runs: Sequence[Run], qualities: Sequence[Quality]) -> Quality:
    """The one of them by which the models of a workload are judged: as [agent] quality says, else as its runs do."""
    named = (each for each in qualities if each.name == settings.values.agent.quality)
    return next(named, None) or quality_measured(runs, qualities)


def choices_of(parameters: Sequence[Parameter], tables: ParameterTables) -> Iterator[tuple[str, Sequence[float]]]:
    """The user's own values, in all: those of what the file says, times what today makes of one; and what is tried of a
    parameter of the team's own."""
    for p in parameters:
        if is_own(p.name):
            yield p.name, tables[p.name].ladder(p.text)
        elif p.counted and (own := tables.get(p.term)) and own.values:
            yield p.name, [choice * p.value / p.counted[1] for choice in own.values]
        elif (table := tables.get(p.name)) and table.values:
            yield p.name, table.values


def explore_of(settings: LoadedSettings) -> str:
    """How bold the agent may be."""
    return settings.values.agent.explore


def decider_of(settings: LoadedSettings) -> tuple[PolicyName, Explore, tuple[str, ...]]:
    """Who shall decide, how boldly, and for which situations it must have been released."""
    agent = settings.values.agent
    explore = explore_here(settings)
    return agent.policy, explore, (explore, *(() if agent.horizon_runs == "auto" else ("horizon",)))


def learn_seconds_of(settings: LoadedSettings) -> float:
    """How long the agent may learn after a suggestion; 0: not at all."""
    return settings.values.agent.learn_budget


def followed_parameters(job: Project) -> dict[str, str]:
    """Which parameter follows which, both of them in config.ini; UsageError JPO-E302: one of them is not there."""
    rules: dict[str, str] = {name: table.follow for name, table in job.settings.values.parameters.items() if table.follow}
    for name, rule in rules.items():
        for needed in (name, rule.partition(":")[0]):
            if needed not in job.workload.current:
                finding = f"[parameters] {name}: follow needs {needed}, which {job.workload.path} does not have"
                raise UsageError(job.settings.place, finding, "take follow out, or add the option", code="JPO-E302")
    return rules


def approved_by_hand(job: Project, chosen: Parameters) -> Parameters:
    """The values of --set, in all, refused before anything is computed with them where the guard would refuse them anyway.

    Raises NothingAdmissible: JPO-E401, the guard refuses; that is on record.
    """
    terms, current = job.workload.terms, job.workload.current
    in_all = terms.in_all_of(current, chosen)
    wanted = terms.with_chosen(current, in_all)
    guard = guarded(job, wanted, Facts())
    if not guard.approved:
        refuse(job, wanted, guard, now=job.now, about={"decided_by": "user"})
    return in_all
