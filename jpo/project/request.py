"""The request of a project: what jpo.toml, config.ini and the command line want and allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import constraints
from constraints import Facts
from jpo.agent.problem import Explore
from jpo.cost import usd_per_hour
from jpo.errors import UsageError
from jpo.optimizer.request import Request
from jpo.optimizer.suggestion import gpu_memory_gib_now
from jpo.project.checkout.branch import explore_here
from jpo.project.load import LoadedSettings
from jpo.project.project import Project
from jpo.project.proposal import guarded
from jpo.project.record import refuse
from jpo.project.settings import ParameterTable
from jpo.records import Parameter, Parameters, PolicyName, Run

ParameterTables = Mapping[str, ParameterTable]


def request_of(job: Project, runs: Sequence[Run], *, chosen: Parameters | None = None) -> Request:
    """The request that belief, agent and explanation work on.

    Args:
        runs: finished runs of the workload.
        chosen: values that the user sets by hand.
    """
    settings = job.settings.values
    tables: ParameterTables = {str(name): table for name, table in settings.parameters.items()}
    facts = Facts(gpu_memory_gib_now=gpu_memory_gib_now(job.workload.current, runs))

    def admissible(today: Parameters, proposed: Parameters) -> bool:
        about = facts if today == job.workload.current else Facts()
        if job.limits.prices.catalogue:
            about = replace(about, usd_per_hour_next=usd_per_hour(proposed, job.prices))
        return constraints.approves(today, proposed, job.limits, about)

    return Request(
        job.workload.current,
        free=[p.name for p in job.workload.parameters if not p.held],
        admissible=admissible,
        preference=job.preference,
        prices=job.prices,
        choices=dict(choices_of(job.workload.parameters, tables)),
        scales={p.name: table.scale for p in job.workload.parameters if (table := tables.get(p.term)) and table.scale},
        terms=job.workload.terms,
        follow=followed_parameters(job),
        targets=job.targets,
        currency=job.currency,
        explore=explore_here(job.settings),
        confidence=settings.agent.confidence,
        named=[p.name for p in job.workload.parameters if _is_bounded(p, tables)],
        quality_floor=None if settings.agent.quality_floor == "off" else settings.agent.quality_floor,
        quality_risk=settings.agent.quality_risk,
        min_confidence=settings.agent.min_confidence,
        nightly=True,
        horizon_runs=None if settings.agent.horizon_runs == "auto" else settings.agent.horizon_runs,
        exploration_runs=settings.agent.exploration_runs,
        budget=settings.agent.budget,
        policy=settings.agent.policy,
        resets=settings.agent.resets,
        usd_per_saved_hour=settings.preference.usd_per_saved_hour,
        chosen=chosen or {},
    )


def choices_of(parameters: Sequence[Parameter], tables: ParameterTables) -> Iterator[tuple[str, Sequence[float]]]:
    """The user's own values, in all: those of what the file says, times what today makes of one."""
    for p in parameters:
        if p.counted and (own := tables.get(p.term)) and own.choices:
            yield p.name, [choice * p.value / p.counted[1] for choice in own.choices]
        elif (table := tables.get(p.name)) and table.choices:
            yield p.name, table.choices


def _is_bounded(parameter: Parameter, tables: ParameterTables) -> bool:
    """Whether the user has said the most that it may be."""
    given = (tables[name] for name in (parameter.term, parameter.name) if name in tables)
    return any(table.max is not None or table.choices for table in given)


def explore_of(settings: LoadedSettings) -> str:
    """How bold the agent may be."""
    return settings.values.agent.explore


def decider_of(settings: LoadedSettings) -> tuple[PolicyName, Explore, tuple[str, ...]]:
    """Who shall decide, how boldly, and for which situations it must have been released."""
    agent = settings.values.agent
    explore = explore_here(settings)
    return agent.policy, explore, (explore, *(() if agent.horizon_runs == "auto" else ("horizon",)))


def followed_parameters(job: Project) -> dict[str, str]:
    """Which parameter follows which, both of them in config.ini.

    Raises:
        UsageError: JPO-E302, one of them is not there.
    """
    rules: dict[str, str] = {name: table.follow for name, table in job.settings.values.parameters.items() if table.follow}
    for name, rule in rules.items():
        for needed in (name, rule.partition(":")[0]):
            if needed not in job.workload.current:
                finding = f"[parameters] {name}: follow needs {needed}, which {job.workload.path} does not have"
                raise UsageError(job.settings.place, finding, "take follow out, or add the option", code="JPO-E302")
    return rules


def approved_by_hand(job: Project, chosen: Parameters) -> Parameters:
    """The values of --set, refused before anything is computed with them where the guard would refuse them anyway.

    Raises:
        NothingAdmissible: JPO-E401, the guard refuses; that is on record.
    """
    wanted = job.workload.terms.with_chosen(job.workload.current, chosen)
    guard = guarded(job, wanted, Facts())
    if not guard.approved:
        refuse(job, wanted, guard, now=job.now, about={"decided_by": "user"})
    return chosen
