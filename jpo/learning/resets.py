"""Resets other than by evidence, as earlier systems had them: on a timer, or when a run breaks the SLA."""

from collections.abc import Sequence
from itertools import pairwise

from jpo.cost.sla import missed
from jpo.optimizer.request import Request
from jpo.records import Run


def due(runs: Sequence[Run], request: Request) -> list[bool] | None:
    """Whether the agent begins anew with each run but the first, oldest first; None: evidence decides, see change_detection.py.

    A timer runs from the beginning of time, so that the same history gives the same resets. Of runs that break the SLA one after
    the other only the first counts.
    """
    if request.resets == "evidence":
        return None
    if request.resets == "broken-sla":
        broken = [missed(request.wanted.targets, run.completed(request.current), request.prices) > 0 for run in runs]
        return [now and not before for before, now in pairwise(broken)]
    every = request.resets
    return [earlier.ended_at // every != run.ended_at // every for earlier, run in pairwise(runs)]
