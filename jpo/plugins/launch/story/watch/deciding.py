"""Decisions about a run that goes on: every few epochs what should be done, and, where it may, doing it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jpo.cost import Prices, usd_per_hour
from jpo.errors import LaunchError
from jpo.plugins.launch.during.adjustment import Adjustment, ReleasedShare, is_new, must_wait, settled
from jpo.plugins.launch.during.progress import ResourceUse
from jpo.plugins.launch.during.release import seconds_lost
from jpo.plugins.launch.job import Needs
from jpo.plugins.launch.launcher import Launcher, Resizable
from jpo.plugins.launch.ledger import Entry, read
from jpo.plugins.launch.lifecycle import UNREACHABLE
from jpo.plugins.launch.watching import account
from jpo.plugins.launch.watching.account import OpenStore
from jpo.plugins.launch.watching.past import PastRuns
from jpo.plugins.launch.watching.seen import ResourcesInUse, SeenRun
from jpo.records import RunStatus
from jpo.wording import numbers

LOOKS = 20
"""Decisions in a run whose epochs are known, where nobody says how many epochs lie between two."""
WINDOW_LOOKS = 200
"""Newest measurements that tell what a run uses."""
NOT_CARRIED_OUT = "JPO-W784"
BEGUN, UNSEEN = "begun", "the process that did it was killed before it saw an answer"
"""Answers of a decision while it is carried out, and once the run of one that was left so is over."""


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What whoever watches wants.

    Attributes:
        every: epochs between two decisions; None: a LOOKS-th of all.
        apply: carry decisions out; else only say them.
        trial: nobody needs the run's model, so that stopping it costs no other run.
        in_a_loop: who watches stops it by the clock where its end is not known, and takes no resources from it.
    """

    every: float | None = None
    apply: bool = False
    trial: bool = False
    in_a_loop: bool = False


@dataclass(slots=True)
class Window:
    """What a run used, look by look, newest last, with the epochs that were done; None: not known."""

    looks: list[tuple[float | None, ResourcesInUse]] = field(default_factory=list)

    def take(self, seen: SeenRun) -> None:
        """Add what this look shows."""
        self.looks = [*self.looks, (seen.training.last_epoch, seen.use)][-WINDOW_LOOKS:]

    def uses(self, given: Needs) -> tuple[ResourceUse, ...]:
        """What was given and used of each resource that was measured at every look but the first."""
        epochs = [done for done, _ in self.looks if done is not None]
        passed, found = epochs[-1] - epochs[0] if epochs else None, []
        for resource, name in (("cpus", "busy_cpus"), ("memory_gib", "memory_gib"), ("gpus", "busy_gpus")):
            amount, values = float(getattr(given, resource) or 0), [getattr(use, name) for _, use in self.looks[1:]]
            measured = [value for value in values if value is not None]
            if amount and values and len(measured) == len(values):
                found.append(ResourceUse(resource, amount, max(measured), len(measured), passed))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Handle:
    """How a run can be reached: its engine and its place in the ledger; and where decisions about it go on record."""

    entry: Entry
    launcher: Launcher
    ledger: Path
    open_store: OpenStore | None = None


def is_due(seen: SeenRun, last: float | None, epochs: float | None, every: float | None) -> bool:
    """Whether it is time for a decision: enough epochs have passed since `last`; None: there was none."""
    done = seen.training.last_epoch
    if done is None:
        return last is None
    step = every or max(1.0, round((epochs or 0) / LOOKS))
    return done >= (step if last is None else last + step)


def decide(
    made: Sequence[Adjustment], reach: Handle | None, options: WatchOptions, *, now: float
) -> tuple[tuple[Adjustment, ...], str]:
    """Carry out what should be done, or say it: once, however many watch. Returns all decisions so far, and what holds the next.

    Of a run that JPO did not launch nothing can be carried out, and nothing is kept.
    """
    if reach is None:
        return tuple(made), ""
    job = reach.entry.job
    with account.deciding(reach.ledger, job.run_id) as adjustments:
        waits = must_wait(adjustments, now=now) if options.apply else 0.0
        before = [each for each in adjustments if each.answer != BEGUN]
        new = [each for each in made if is_new(replace(each, applied=options.apply), before)]
        if waits and any(each.release is None or not each.release.is_return for each in new):
            held = f"the next decision is carried out in {numbers.duration(waits)}: what the last one did must show"
            return tuple(adjustments), held
        done, held = list[Adjustment](), ""
        if new and options.apply:
            account.keep(reach.ledger, job.run_id, [*before, *(replace(each, answer=BEGUN) for each in new)])
        for each in new:
            try:
                done.append(carried_out(each, reach, (*before, *done)) if options.apply else each)
            except LaunchError as error:
                held = f"{error.in_short}; it is tried again"
        if new:
            adjustments[:] = [*before, *done]
            account.keep(reach.ledger, job.run_id, adjustments)
        account.put_on_audit_log(job.run_id, job.identity, done, reach.open_store, kind=account.MADE, now=now)
        return tuple(adjustments), held


def carried_out(adjustment: Adjustment, reach: Handle, before: Sequence[Adjustment] = ()) -> Adjustment:
    """Do it, `before` it others; what the engine does not do is said in the decision. LaunchError: out of reach, or no stop."""
    entry = read(reach.ledger, reach.entry.job.run_id) or reach.entry
    if entry.engine_id is None or entry.end is not None:
        return replace(adjustment, answer="it is not running")
    if adjustment.release is None:
        reach.launcher.cancel(entry.engine_id)  # if it is refused it is tried again: a login that has expired is renewed
        return replace(adjustment, applied=True)
    if not isinstance(reach.launcher, Resizable):
        return replace(adjustment, answer=f"{entry.engine} cannot change what a run uses [{NOT_CARRIED_OUT}]")
    try:
        reach.launcher.resize(entry.engine_id, with_kept(held_now(entry.job.needs, before), adjustment.release))
    except LaunchError as error:
        if error.code == UNREACHABLE:
            raise
        return replace(adjustment, answer=f"{error.place}: {error.finding} [{NOT_CARRIED_OUT}]")
    return replace(adjustment, applied=True)


def held_now(needs: Needs, adjustments: Sequence[Adjustment]) -> Needs:
    """What a run holds that was started with these needs, after what was decided about it."""
    for each in adjustments:
        needs = with_kept(needs, each.release) if each.applied and each.release else needs
    return needs


def with_kept(needs: Needs, release: ReleasedShare) -> Needs:
    """The needs with less of one resource."""
    kept: Any = int(release.kept) if release.resource == "gpus" else release.kept
    return replace(needs, **{release.resource: kept})


def settle(seen: SeenRun, past: PastRuns, reach: Handle | None, prices: Prices) -> tuple[Adjustment, ...]:
    """Once a run has ended: what came of each decision about it, once."""
    if reach is None:
        return ()
    ended_at, rate = seen.times.ended_at or seen.at, usd_per_hour(seen.parameters, prices)
    with account.deciding(reach.ledger, seen.run_id) as adjustments:
        open_ones = [n for n, each in enumerate(adjustments) if each.actual is None]
        stopped, won = seen.status is RunStatus.STOPPED, _won(seen, past)
        for n in open_ones:
            if adjustments[n].answer == BEGUN:
                adjustments[n] = replace(adjustments[n], applied=adjustments[n].is_stop and stopped, answer=UNSEEN)
        made = [adjustments[n] for n in open_ones]
        account.put_on_audit_log(seen.run_id, seen.identity, made, reach.open_store, kind=account.MADE, now=seen.at)
        for n in open_ones:
            lost = seconds_lost(n, adjustments, seen.epoch_times, end=ended_at)
            adjustments[n] = settled(adjustments[n], ended_at=ended_at, usd_per_hour=rate, won=won, lost=lost)
        known = [adjustments[n] for n in open_ones]
        account.put_on_audit_log(seen.run_id, seen.identity, known, reach.open_store, kind=account.SETTLED, now=seen.at)
        return tuple(adjustments)


def _won(seen: SeenRun, past: PastRuns) -> bool | None:
    """Whether the run ended with a better model than the best run before it, or faster; None: nobody can say."""
    if past.rival is None or seen.status in (None, RunStatus.STOPPED):
        return None
    if seen.status is not RunStatus.SUCCEEDED:
        return False
    curve = past.quality.errors_of(seen.curve(past.quality))
    if past.rival.error is not None and curve and curve[-1][1] > past.rival.error * 1.02:
        return False
    return seen.elapsed_seconds is not None and seen.elapsed_seconds < past.rival.seconds
