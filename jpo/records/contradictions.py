"""Contradictions: runs that report other values than they were given, and what a job can be given then."""

from dataclasses import dataclass

from jpo.records.workloads import as_given

GB_PER_GIB = 2.0**30 / 1e9


@dataclass(frozen=True, slots=True)
class Stray:
    """A run that reports another value of a parameter than the suggestion before it gave.

    Attributes:
        given: the suggestion's value, which config.ini had when the run began.
        reported: the run's own; it counts with this one.
        as_before: it is the value from before the suggestion, and the run took no other change either: it may have had that file.
    """

    run_id: str
    suggestion_id: str
    parameter: str
    given: float
    reported: float
    as_before: bool = False

    @property
    def in_gb(self) -> bool:
        """Whether it is the same number of GB (10^9 bytes), where GiB were meant."""
        return self.parameter == "memory_gib" and abs(self.given / (self.reported or 1.0) / GB_PER_GIB - 1) < 0.002


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a parameter can be set, as runs showed that were given something else.

    `strays`: these runs, oldest first. `most`, `least`: beyond this value the job takes this one; both None: what it makes of a
    value is not known, so that it stays.
    """

    parameter: str
    strays: tuple[Stray, ...]
    most: float | None = None
    least: float | None = None

    @property
    def value(self) -> float | None:
        """The value that the job takes instead of one beyond it."""
        return self.least if self.most is None else self.most

    def really(self, given: float) -> float | None:
        """The value that the job runs with where config.ini has this one; None where no run was given it, or would take it."""
        if self.value is not None and self.allows(given):
            return None
        alike = [stray.reported for stray in self.strays if as_given(self.parameter, stray.given, given)]
        return (self.value or alike[-1]) if alike else None

    def allows(self, value: float) -> bool:
        """Whether the job would run with this value."""
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)


@dataclass(frozen=True, slots=True)
class Contradictions:
    """What the runs of a workload say against what they were given.

    Attributes:
        strays: all of them, oldest first.
        open: those which no later run has disproved, and that are of the newest run or make up a reach.
        reaches: of parameters where it happened again, by name.
    """

    strays: tuple[Stray, ...] = ()
    open: tuple[Stray, ...] = ()
    reaches: tuple[Reach, ...] = ()
