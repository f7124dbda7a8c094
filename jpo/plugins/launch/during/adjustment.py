"""Adjustments: decisions during a run with their reason, what was expected of each, and what came of it.

The account of a run is kept beside it, so that several who watch it decide once, and pause between two decisions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

COOLDOWN_SECONDS = 300.0
"""Between two decisions that are carried out on one run: what the first one does must show before the next."""


@dataclass(frozen=True, slots=True)
class Saving:
    """Reward of a decision: what is not spent because of it. None: not known."""

    seconds: float | None = None
    usd: float | None = None


NOTHING = Saving()


@dataclass(frozen=True, slots=True)
class ReleasedShare:
    """Part of a resource that a run gives back, or, where it keeps more than it had, gets again.

    Attributes:
        resource: "gpus", "cpus" or "memory_gib"; `given`, `kept`: of it, before and after.
        saves_usd_per_hour: as long as the run goes on; None: not known.
    """

    resource: str
    given: float
    kept: float
    saves_usd_per_hour: float | None = None

    @property
    def is_return(self) -> bool:
        return self.kept > self.given


@dataclass(frozen=True, slots=True)
class Adjustment:
    """One decision about a run: to stop it, or to release a part of what it holds.

    Attributes:
        at: unix seconds.
        release: None: it is a stop.
        wins: the chance to win that a stop rests on.
        expected: reward; `actual`: what it was, once the run ended.
        applied: whether it was carried out; else it is only what JPO would do.
        answer: what the engine said to it, or why it was not carried out.
        right: of a stop that was not carried out, whether the run did not win; None: not known, or it was carried out.
    """

    at: float
    why: str
    release: ReleasedShare | None = None
    wins: float | None = None
    expected: Saving = NOTHING
    applied: bool = False
    answer: str = ""
    actual: Saving | None = None
    right: bool | None = None

    @property
    def is_stop(self) -> bool:
        return self.release is None


def as_json(made: Adjustment) -> dict[str, Any]:
    """A decision as it is kept and published, flat."""
    release = made.release
    return {
        "at": made.at,
        "kind": "release" if release else "stop",
        "why": made.why,
        "about": release.resource if release else "",
        "given": release and release.given,
        "kept": release and release.kept,
        "wins": made.wins,
        "saves_usd_per_hour": release and release.saves_usd_per_hour,
        "expected": asdict(made.expected),
        "applied": made.applied,
        "answer": made.answer,
        "actual": asdict(made.actual) if made.actual else None,
        "right": made.right,
    }


def from_json(found: Mapping[str, Any]) -> Adjustment:
    """The decision that is kept so; ValueError, KeyError or TypeError for what is none."""
    rest = dict(found)
    kind, resource, rate = rest.pop("kind"), rest.pop("about", ""), rest.pop("saves_usd_per_hour", None)
    given, kept = rest.pop("given", None), rest.pop("kept", None)
    if kind not in ("stop", "release"):
        raise ValueError(f"{kind!r:.80} is not a kind of decision")
    rest["release"] = ReleasedShare(resource, given, kept, rate) if kind == "release" else None
    rest["expected"] = Saving(**rest["expected"])
    rest["actual"] = None if rest["actual"] is None else Saving(**rest["actual"])
    return Adjustment(**rest)


def is_new(adjustment: Adjustment, before: Sequence[Adjustment]) -> bool:
    """Whether it was not decided before: a stop once, a release of more than the last one, unless the run got that again.

    What was only said before is new again where it is to be carried out; what an engine refused is not.
    """
    done = [other.release for other in before if other.applied or other.answer or not adjustment.applied]
    new = adjustment.release
    if new is None:
        return None not in done
    same = [other for other in done if other and other.resource == new.resource]
    return not any(other.is_return for other in same) and all(new.is_return or new.kept < other.kept for other in same)


def must_wait(before: Sequence[Adjustment], *, now: float) -> float:
    """Seconds until the next decision may be carried out; 0: at once."""
    last = max((other.at for other in before if other.applied), default=None)
    return 0.0 if last is None else max(0.0, COOLDOWN_SECONDS - (now - last))


def settled(
    adjustment: Adjustment, *, ended_at: float, usd_per_hour: float | None, won: bool | None, lost: float | None = None
) -> Adjustment:
    """The decision with what came of it, once its run has ended; `won`: as the best of its workload, None: nobody can say.

    A stop that was carried out saved what had been expected less what ending took. A release saved its share of the price for
    as long as the run still went on, less `lost`, the seconds that it took longer for it. Of one that was not carried out it is
    what it would have saved.
    """
    after = max(0.0, ended_at - adjustment.at)
    if adjustment.release:
        rate = adjustment.release.saves_usd_per_hour
        usd = None if rate is None else rate * after / 3600
        if usd is not None and lost and usd_per_hour is not None:
            usd -= lost * usd_per_hour / 3600
        return replace(adjustment, actual=Saving(lost and -lost, usd))
    if not adjustment.applied:
        usd = None if usd_per_hour is None else usd_per_hour * after / 3600
        return replace(adjustment, actual=Saving(after, usd), right=None if won is None else not won)
    spared = None if adjustment.expected.seconds is None else max(0.0, adjustment.expected.seconds - after)
    usd = None if spared is None or usd_per_hour is None else usd_per_hour * spared / 3600
    return replace(adjustment, actual=Saving(spared, usd))
