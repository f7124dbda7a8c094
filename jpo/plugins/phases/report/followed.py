"""A run as it is followed: a line per sample for programs, a line per change for people."""

from dataclasses import asdict, dataclass
from math import inf

from jpo.plugins.phases.following.follower import FollowedState
from jpo.wording import numbers


@dataclass(frozen=True, slots=True)
class Followed:
    """A run after a sample; `request`, `first`: cores and bytes. `resized`: they are others than before, `resizes`: as often."""

    run: str
    state: FollowedState
    request: tuple[float, float]
    first: tuple[float, float]
    resized: bool
    resizes: int
    applied: bool


def in_units(request: tuple[float, float]) -> str:
    """Cores and bytes in words."""
    cores, size = request
    said = "all cores" if cores == inf else f"{cores:.3g} cores"
    return f"{said}, {'all memory' if size == inf else numbers.gib(size / 2**30)}"


def as_line(now: Followed) -> str:
    sample, coming = now.state.sample, now.state.coming
    then = ""
    if coming.next_phase is not None and coming.left_seconds is not None:
        then = f", then {coming.next_phase} in {numbers.duration(coming.left_seconds)}"
    verb = "request" if not now.resized else "resized to" if now.applied else "would resize to"
    doubt = f" (the first one: {now.state.doubt})" if now.state.doubt else ""
    since, uses = numbers.duration(coming.since_seconds), in_units((sample.cores, sample.memory_bytes))
    return f"phase {coming.phase} since {since}{then}; uses {uses}; {verb} {in_units(now.request)}{doubt}"


def last_line(now: Followed) -> str:
    """What came of it, as `jpo phases evaluate` has it."""
    held = " and ".join(f"{share:.2f} of {what}" for share, what in zip(now.state.shares, ("CPU", "memory"), strict=True))
    verb = "had" if now.applied else "would have had"
    return f"{now.run} has ended: it {verb} {held}, in shares of its own peak; {numbers.counted(now.resizes, 'resize')}"


def as_json(now: Followed) -> dict[str, object]:
    """A line of JSON Lines; null: nothing limits it, or it is not known."""
    sample, shares = now.state.sample, now.state.shares.tolist()
    pairs = {"used": sample[1:], "request": now.request, "first": now.first, "shares": shares}
    return {
        "schema_version": 1,
        "run": now.run,
        "at": sample.t,
        "expected": asdict(now.state.coming),
        **{name: [finite(each) for each in pair] for name, pair in pairs.items()},
        "resized": now.resized,
        "resizes": now.resizes,
        "applied": now.applied,
        "doubt": now.state.doubt,
    }


def finite(value: float) -> float | None:
    return value if value < inf else None
