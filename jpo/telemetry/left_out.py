"""Runs that are no evidence, named once per cause: a thousand with one mistake are one sentence, with examples and a count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from jpo.records import Skipped
from jpo.telemetry.outcome import CONTRADICTORY, IMPOSSIBLE, NO_SECONDS, UNTIMELY, UNTOLD

CAUSES = {
    IMPOSSIBLE: "values that cannot be",
    CONTRADICTORY: "reports that contradict each other",
    UNTIMELY: "times that cannot be",
    NO_SECONDS: "times in another unit than seconds",
    UNTOLD: "nothing that could be learnt from",
}
"""By reason code: what runs of one kind have in common."""
MOST_EXAMPLES = 3


def by_cause(skipped: Sequence[Skipped]) -> tuple[Skipped, ...]:
    """One entry for all runs of a cause, after those that have none in common (a log that cannot be read)."""
    alone = tuple(run for run in skipped if run.code not in CAUSES)
    groups: dict[str, list[Skipped]] = defaultdict(list)
    for run in skipped:
        if run.code in CAUSES:
            groups[run.code].append(run)
    return *alone, *(_as_one(groups[code]) for code in CAUSES if code in groups)


def _as_one(runs: Sequence[Skipped]) -> Skipped:
    first = runs[0]
    if len(runs) == 1:
        return replace(first, reason=f"{first.reason} [{first.code}]")
    more = f" and {len(runs) - MOST_EXAMPLES} more" if len(runs) > MOST_EXAMPLES else ""
    examples = ", ".join(run.run_id for run in runs[:MOST_EXAMPLES]) + more
    reason = f"{len(runs)} runs with {CAUSES[first.code]}, the first: {first.reason} [{first.code}]"
    return Skipped(examples, reason, first.code, len(runs))
