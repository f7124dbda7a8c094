"""Runs that followed the agent's suggestions, with the values that it replaced: what exploring has cost is counted from them."""

from collections.abc import Sequence

from jpo.history.runs import RecordedRun
from jpo.history.store import Store
from jpo.records import Parameters, Run, Suggestion

LAST = 20
"""Newest runs after a suggestion that count."""
FOUND = ("user", "rollback", "recovery")
"""Who changes something for another reason than to explore: where nothing ended well, there is nothing to lose."""
Follower = tuple[Run, Parameters | None]
"""A run after a suggestion, and the values before it; None where the agent changed none."""


def followers(store: Store, recorded: Sequence[RecordedRun]) -> tuple[Follower, ...]:
    """The runs that followed a suggestion, oldest first.

    What a rollback put back is no new step of the agent's: it had been found there, or belongs to an earlier suggestion.
    """
    pairs = ((entry.run, store.suggestion(entry.suggestion_id)) for entry in recorded if entry.suggestion_id)
    return tuple((run, _replaced(made)) for run, made in pairs)


def _replaced(made: Suggestion) -> Parameters | None:
    """The values before a suggestion; None where the agent changed none. What only tells the truth of a run is no change."""
    as_run = {change.parameter: change.new for change in made.changes if change.parameter in made.values.as_run}
    if made.status != "changed" or made.decision.decided_by in FOUND or len(as_run) == len(made.changes) > 0:
        return None
    return {**made.values.current, **as_run}


def followed_up(store: Store, recorded: Sequence[RecordedRun]) -> tuple[tuple[Run, Parameters], ...]:
    """The last runs that followed a change which the agent suggested, with the values before it, oldest first."""
    return changed(followers(store, [entry for entry in recorded if entry.suggestion_id][-LAST:]))


def changed(some: Sequence[Follower]) -> tuple[tuple[Run, Parameters], ...]:
    """Those of the last of these runs before which the agent changed something."""
    return tuple((run, before) for run, before in some[-LAST:] if before is not None)


def trials(store: Store, recorded: Sequence[RecordedRun]) -> int:
    """How many of the newest LAST runs followed a trial of the agent's."""
    newest = (store.suggestion(entry.suggestion_id).decision for entry in recorded[-LAST:] if entry.suggestion_id)
    return sum(made.kind == "trial" and made.decided_by not in FOUND for made in newest)
