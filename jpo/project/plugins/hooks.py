"""What plugins add to an opened project: runs, what else is known of the next one, the queue before it, events of past ones.

A plugin whose part cannot be imported adds nothing, and a note says so. What depends on settings of its own is asked only where
jpo.toml has a table of the plugin: a suggestion without them does not wait for its imports.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from jpo import plugin
from jpo.project.load import LoadedSettings
from jpo.project.plugins.tables import OF_OTHERS
from jpo.records import Finished, FirstRun, Forecast, Known, Note, Parameters, Queued, Run, RunEvent, Workload

if TYPE_CHECKING:
    from jpo.agent.safety.queue_waits import QueueWaits
    from jpo.history import Store
    from jpo.project.project import Project


class Queue(Protocol):
    """The queue of the engine on which runs would start; of the same resources it is asked once."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the report must say of an engine that did not answer."""

    def waits_for(self, today: Parameters, others: Callable[[], Iterable[Parameters]]) -> "QueueWaits | None":
        """What the engine says of runs with today's resources and with those of other configurations; None: nothing."""

    def ends(self, expected: Sequence[tuple[Parameters, Forecast]], *, now: float) -> tuple[Queued | None, ...]:
        """When runs of these configurations would be done, if they were submitted now; None where nobody says."""


@dataclass(frozen=True, slots=True)
class NoQueue:
    """Runs start at once, or nobody knows."""

    notes: tuple[Note, ...] = ()

    def waits_for(self, today: Parameters, others: Callable[[], Iterable[Parameters]]) -> None:
        """Nothing."""

    def ends(self, expected: Sequence[tuple[Parameters, Forecast]], *, now: float) -> tuple[None, ...]:
        return (None,) * len(expected)


def from_plugins(settings: LoadedSettings, store: "Store", *, now: float, keep: bool) -> Finished:
    """Finished runs that plugins know of, now on record.

    `keep`: what was learnt may be noted; else nothing is written but to the store, and nobody is asked.
    """
    found = Finished()
    for source, notes in _parts("sources", settings):
        more = source(settings, store, now=now, keep=keep) if source else Finished(doubts=notes)
        found = Finished((*found.runs, *more.runs), doubts=(*found.doubts, *more.doubts))
    return found


def in_context(known: Known, job: "Project", kind: Literal["context", "past_context"] = "context") -> Known:
    """What is known, with what plugins know of the next run; "past_context": with what they would have known after each past run,
    from which the agent learns."""
    for step, notes in _parts(kind, job.settings, only_with_tables=True):
        known = step(known, job) if step else replace(known, evidence=known.evidence.noting(notes))
    return known


def queue_of(workload: Workload, settings: LoadedSettings) -> Queue:
    """The queue of the engine that jpo.toml names."""
    made, notes = next(_parts("queue", settings, only_with_tables=True), (None, ()))
    return made(workload, settings) if made else NoQueue(notes)


def estimates_of(workload: Workload, settings: LoadedSettings, runs: Iterable[Run]) -> Callable[[Parameters], FirstRun]:
    """What a run takes, by the plugin that estimates it; nothing once one of these has ended well: what it measured is known."""
    nothing = None, ()
    made, notes = nothing if any(run.ended_well for run in runs) else next(_parts("estimates", settings), nothing)
    if made is None:
        return lambda _: FirstRun(notes=notes)
    estimates: Callable[[Parameters], FirstRun] = made(workload, settings)
    return estimates


def events_of(settings: LoadedSettings, run_ids: Collection[str]) -> tuple[RunEvent, ...]:
    """What happened to these runs besides."""
    return tuple(event for events, _ in _parts("events", settings) if events for event in events(settings, run_ids))


def _parts(
    kind: str, settings: LoadedSettings, *, only_with_tables: bool = False
) -> Iterator[tuple[Callable[..., Any] | None, tuple[Note, ...]]]:
    """The parts of this kind, each or None with the note that it cannot be imported."""
    for each in plugin.plugins(of_others=OF_OTHERS in settings.tables):
        where = getattr(each, kind, None) or each.offers.get(kind)
        tables = {*settings.tables, *settings.tables.get(OF_OTHERS, {})}
        if where and (not only_with_tables or each.settings.keys() & tables):
            part = plugin.part_of(each, where)
            if isinstance(part, plugin.Broken):
                yield None, (Note(plugin.CODE, str(part), each.name),)
            else:
                yield part, ()
