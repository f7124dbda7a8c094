"""Runs that were given values by a suggestion of another history: pipelines with a cache each have one each, and a cache that was
lost takes its suggestions along. Such a run counts, and nothing is said of how right that suggestion was."""

from collections.abc import Iterator, Sequence

from jpo.history.store import Store
from jpo.records import Note, Run, advice
from jpo.wording.numbers import counted

OTHER_HISTORY = "JPO-W164"
REMEDY = "the runs count, those suggestions do not; with one [store] url pipelines share both"


def unknown_suggestions(store: Store, fresh: Sequence[Run]) -> Iterator[Note]:
    """That runs which are new on record name suggestions that are not."""
    named = {run.given_by: run.run_id for run in fresh if run.given_by}
    lost = [made for made in named if not store.has_suggestion(made)]
    if lost:
        more = f", nor {counted(len(lost) - 1, 'other')} that runs name" if lost[1:] else ""
        finding = f"Run {named[lost[0]]} was given values by suggestion {lost[0]:.40}, which this history does not know{more}"
        yield advice(OTHER_HISTORY, finding, REMEDY)
