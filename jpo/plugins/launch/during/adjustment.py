"""Adjustments: decisions during a run with their reason, what was expected of each, and what came of it.

The account of a run is kept beside it, so that several who watch it decide once, and pause between two decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # they load numpy, which reports do without
    from jpo.plugins.launch.during.release import Surplus
    from jpo.plugins.launch.during.stop import StopVerdict

Kind = Literal["stop", "release"]
COOLDOWN_SECONDS = 300.0
"""Between two decisions that are carried out on one run: what the first one does must show before the next."""


@dataclass(frozen=True, slots=True)
class Saving:
    """Reward of a decision: what is not spent because of it. None: not known."""

    seconds: float | None = None
    usd: float | None = None


NOTHING = Saving()


@dataclass(frozen=True, slots=True)
class Adjustment:
    """One decision about a run.

    Attributes:
        at: unix seconds.
        kind, about: "stop", or "release" of a resource; `given`, `kept`: of that resource.
        why: in a sentence.
        wins: the chance to win that a stop rests on.
        saves_usd_per_hour: by a release, as long as the run goes on.
        expected: reward; `actual`: what it was, once the run ended.
        applied: whether it was carried out; else it is only what JPO would do.
        answer: what the engine said to it, or why it was not carried out.
        right: of a stop that was not carried out, whether the run did not win; None: not known, or it was carried out.
    """

    at: float
    kind: Kind
    why: str
    about: str = ""
    given: float | None = None
    kept: float | None = None
    wins: float | None = None
    saves_usd_per_hour: float | None = None
    expected: Saving = NOTHING
    applied: bool = False
    answer: str = ""
    actual: Saving | None = None
    right: bool | None = None

    @property
    def settled(self) -> bool:
        """Whether it is known what came of it."""
        return self.actual is not None


def proposed(stop: StopVerdict, released: Sequence[Surplus], *, now: float) -> tuple[Adjustment, ...]:
    """What is to be done: a run that is stopped releases all."""
    if stop.stop:
        return (Adjustment(now, "stop", stop.why, wins=stop.wins, expected=Saving(stop.saves_seconds, stop.saves_usd)),)
    return tuple(
        Adjustment(
            now,
            "release",
            each.why,
            each.resource,
            each.given,
            each.kept,
            expected=Saving(None, each.saves_usd),
            saves_usd_per_hour=each.saves_usd_per_hour,
        )
        for each in released
    )


def is_new(adjustment: Adjustment, before: Sequence[Adjustment]) -> bool:
    """Whether it was not decided before: a stop once, a release only of more than the last one of that resource.

    What was only said before is new again where it is to be carried out; what an engine refused is not.
    """
    like = [other for other in before if (other.kind, other.about) == (adjustment.kind, adjustment.about)]
    done = [other for other in like if other.applied or other.answer or not adjustment.applied]
    return all(adjustment.kept is not None and other.kept is not None and adjustment.kept < other.kept for other in done)


def must_wait(before: Sequence[Adjustment], *, now: float, cooldown: float = COOLDOWN_SECONDS) -> float:
    """Seconds until the next decision may be carried out; 0: at once."""
    last = max((other.at for other in before if other.applied), default=None)
    return 0.0 if last is None else max(0.0, cooldown - (now - last))


def settled(adjustment: Adjustment, *, ended_at: float, usd_per_hour: float | None, won: bool | None) -> Adjustment:
    """The decision with what came of it, once its run has ended.

    A stop that was carried out saved what had been expected less what ending took. A release saved its share of the price for
    as long as the run still went on. Of one that was not carried out it is what it would have saved.

    Args:
        won: whether the run ended as the best of its workload; None: nobody can say.
    """
    after = max(0.0, ended_at - adjustment.at)
    if adjustment.kind == "release":
        rate = adjustment.saves_usd_per_hour
        usd = None if rate is None else rate * after / 3600
        return replace(adjustment, actual=Saving(None, usd))
    if not adjustment.applied:
        usd = None if usd_per_hour is None else usd_per_hour * after / 3600
        return replace(adjustment, actual=Saving(after, usd), right=None if won is None else not won)
    spared = None if adjustment.expected.seconds is None else max(0.0, adjustment.expected.seconds - after)
    usd = None if spared is None or usd_per_hour is None else usd_per_hour * spared / 3600
    return replace(adjustment, actual=Saving(spared, usd))
