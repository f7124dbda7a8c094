from contextlib import nullcontext
from dataclasses import replace

import pytest
from simulated_engine import SimulatedLauncher, VirtualRun

from jpo.cost import Prices
from jpo.errors import LaunchError, StoreError
from jpo.history import open_store
from jpo.plugins.launch.during.adjustment import Adjustment, ReleasedShare, Saving
from jpo.plugins.launch.during.progress import Rival
from jpo.plugins.launch.job import JobState, LaunchJob, Needs
from jpo.plugins.launch.launcher import Resizable
from jpo.plugins.launch.lifecycle import start
from jpo.plugins.launch.story.watch.deciding import (
    BEGUN,
    UNSEEN,
    Handle,
    WatchOptions,
    Window,
    carried_out,
    decide,
    is_due,
    settle,
    with_kept,
)
from jpo.plugins.launch.watching import account
from jpo.plugins.launch.watching.past import PastRuns
from jpo.plugins.launch.watching.seen import ResourcesInUse, RunTimes, SeenRun, TrainingLog
from jpo.records import VAL_LOSS, Identity, RunStatus

IDENTITY = Identity("d", "m", "f")
STOP = Adjustment(1000.0, "why", wins=0.0, expected=Saving(500.0, 5.0))
RELEASE = Adjustment(1000.0, "why", ReleasedShare("cpus", 8, 2), expected=Saving(None, 1.0))
APPLY = WatchOptions(apply=True)


class Resizes(SimulatedLauncher):
    """An engine that takes resources back, unless told not to."""

    refuses = False

    def resize(self, engine_id, needs):
        if self.refuses:
            raise LaunchError("cluster", "says no", "ask it", code="JPO-E753")
        self.given = needs


@pytest.fixture
def handle(tmp_path):
    """`handle(launcher_class)`: a run of a simulated engine, reached."""

    def made(launcher_class=SimulatedLauncher):
        launcher = launcher_class(lambda job, now: VirtualRun(10_000), lambda: 1000.0)
        job = LaunchJob("night-1", IDENTITY, ("train",), tmp_path, needs=Needs(cpus=8, memory_gib=16))
        return Handle(start(job, launcher, tmp_path / "launches", now=1000.0), launcher, tmp_path / "launches")

    return made


def seen(**changes):
    return SeenRun("night-1", IDENTITY, {"epochs": 40.0}, "simulated", JobState.RUNNING, 1000.0, **changes)


@pytest.mark.parametrize(
    ("done", "last", "epochs", "every", "due"),
    [
        (2, None, 40, None, True),
        (1, None, 40, None, False),
        (3, 2, 40, None, False),
        (4, 2, 40, None, True),
        (5, 2, 40, 4, False),
        (6, 2, 40, 4, True),
        (1, None, None, None, True),
        (None, None, 40, None, True),
        (None, 0, 40, None, False),
    ],
)
def test_decisions_come_every_few_epochs(done, last, epochs, every, due):
    assert is_due(seen(training=TrainingLog(done)), last, epochs, every) is due


def test_without_apply_nothing_is_done(handle):
    reached = handle()
    decisions, held = decide([STOP], reached, WatchOptions(), now=1000.0)
    assert [each.applied for each in decisions] == [False]
    assert held == ""
    assert not reached.launcher.status("night-1").over


def test_with_apply_a_run_is_stopped_once(handle):
    reached = handle()
    decide([STOP], reached, APPLY, now=1000.0)
    decisions, _ = decide([STOP], reached, APPLY, now=1001.0)
    assert [each.applied for each in decisions] == [True]
    assert reached.launcher.status("night-1").ended_as is RunStatus.STOPPED


def test_two_decisions_lie_apart_whoever_makes_them(handle):
    reached = handle(Resizes)
    decide([RELEASE], reached, APPLY, now=1000.0)
    decisions, held = decide([STOP], reached, APPLY, now=1010.0)
    assert len(decisions) == 1
    assert "the next decision is carried out in 4m 50s" in held
    assert len(decide([STOP], reached, APPLY, now=1400.0)[0]) == 2


def test_an_engine_that_resizes_gets_what_is_left(handle):
    reached = handle(Resizes)
    assert carried_out(RELEASE, reached).applied
    assert reached.launcher.given == Needs(cpus=2, memory_gib=16)


def test_an_engine_that_does_not_resize_is_named(handle):
    done = carried_out(RELEASE, handle())
    assert not done.applied
    assert done.answer == "simulated cannot change what a run uses [JPO-W784]"
    assert not isinstance(SimulatedLauncher, Resizable)


def test_a_refusal_is_in_the_account(handle):
    reached = handle(Resizes)
    reached.launcher.refuses = True
    assert carried_out(RELEASE, reached).answer == "cluster: says no [JPO-W784]"


def test_what_was_refused_is_not_asked_for_again_and_again(handle):
    reached = handle(Resizes)
    reached.launcher.refuses = True
    decide([RELEASE], reached, APPLY, now=1000.0)
    assert len(decide([RELEASE], reached, APPLY, now=1100.0)[0]) == 1


@pytest.mark.parametrize("code", ["JPO-E754", "JPO-E753"])  # no answer; a login that has expired
def test_a_stop_that_fails_is_asked_for_again(handle, code):
    class Away(Resizes):
        away = True

        def cancel(self, engine_id):
            if self.away:
                raise LaunchError("cluster", "does not answer", "check it", code=code)
            super().cancel(engine_id)

    reached = handle(Away)
    decisions, held = decide([STOP], reached, APPLY, now=1000.0)
    assert decisions == ()
    assert "it is tried again" in held
    reached.launcher.away = False
    assert decide([STOP], reached, APPLY, now=1001.0)[0][0].applied


def test_of_a_run_that_jpo_did_not_launch_nothing_is_kept():
    assert decide([STOP], None, WatchOptions(), now=1.0) == ((STOP,), "")


@pytest.mark.parametrize(
    ("resource", "left"), [("cpus", Needs(2, None, 3, 16)), ("memory_gib", Needs(2, None, 8, 3)), ("gpus", Needs(3, None, 8, 16))]
)
def test_the_other_resources_stay(resource, left):
    assert with_kept(Needs(2, None, 8, 16), ReleasedShare(resource, 8, 3)) == left


def test_a_window_holds_the_peak_and_skips_the_first_look():
    window = Window()
    for number, (busy, memory) in enumerate([(5.0, 9.0), (1.0, 1.0), (0.4, 2.0), (0.1, 1.5)]):
        use = ResourcesInUse(busy_cpus=busy, memory_gib=memory)
        window.take(replace(seen(training=TrainingLog(number), use=use), at=1000.0 + 10 * number))
    cpus, memory = window.uses(Needs(cpus=8, memory_gib=16))
    assert (cpus.given, cpus.peak, cpus.looks, cpus.epochs) == (8, 1.0, 3, 3)
    assert (memory.given, memory.peak) == (16, 2.0)


def test_what_was_not_measured_is_not_released():
    window = Window()
    for number in range(9):
        window.take(seen(training=TrainingLog(number)))
    assert window.uses(Needs(cpus=8, memory_gib=16, gpus=1)) == ()


@pytest.mark.parametrize(
    ("status", "seconds", "right"),
    [("succeeded", 50.0, False), ("succeeded", 200.0, True), ("failed", 50.0, True), ("stopped", 50.0, None)],
)
def test_what_came_of_a_decision_is_known_at_the_end(handle, status, seconds, right):
    reached = handle()
    decide([STOP], reached, WatchOptions(), now=1000.0)
    over = seen(status=RunStatus(status), times=RunTimes(1000.0, ended_at=1000.0 + seconds))
    past = PastRuns(VAL_LOSS, Rival("best", 100.0))
    (settled,) = settle(over, past, reached, Prices())
    assert settled.actual.seconds == seconds
    assert settled.right is right
    assert settle(over, past, reached, Prices()) == (settled,)


def test_a_stop_whose_watch_was_killed_before_it_could_note_it_is_on_record_as_done(handle, monkeypatch):
    """Who looks for the runs that JPO stopped, finds it: one that was stopped from outside says less of its values."""
    store = open_store("sqlite://")
    reached = replace(handle(), open_store=lambda: nullcontext(store))

    def killed(*_, **__):
        raise SystemExit

    monkeypatch.setattr(SimulatedLauncher, "cancel", killed)
    with pytest.raises(SystemExit):
        decide([STOP], reached, APPLY, now=1000.0)
    ended = seen(status=RunStatus.STOPPED, times=RunTimes(900.0, 1001.0))
    for _ in range(2):
        (made,) = settle(ended, PastRuns(VAL_LOSS), reached, Prices())
        assert (made.applied, made.answer, made.actual is not None) == (True, UNSEEN, True)
    assert [each.kind for each in store.audit_records()] == ["adjusted", "adjustment settled"]
    assert store.stopped_by_jpo() == {"night-1"}


def test_a_stop_that_was_begun_is_begun_again_while_its_run_goes_on(handle):
    reached = handle()
    with account.deciding(reached.ledger, "night-1") as adjustments:
        adjustments.append(replace(STOP, answer=BEGUN))
    assert decide([], reached, APPLY, now=1000.0)[0] == (replace(STOP, answer=BEGUN),)
    assert decide([STOP], reached, APPLY, now=1001.0)[0] == (replace(STOP, applied=True),)


def test_a_stop_is_noted_though_the_store_fails(handle):
    def fails():
        raise StoreError("jpo.db", "is full", code="JPO-E503")

    reached = replace(handle(), open_store=fails)
    with pytest.raises(StoreError):
        decide([STOP], reached, APPLY, now=1000.0)
    assert account.read(reached.ledger, "night-1") == [replace(STOP, applied=True)]


def test_a_release_leaves_earlier_ones_as_they_are(handle):
    reached = handle(Resizes)
    memory = Adjustment(1000.0, "why", ReleasedShare("memory_gib", 16, 4))
    decisions, _ = decide([RELEASE, memory], reached, APPLY, now=1000.0)
    assert [each.applied for each in decisions] == [True, True]
    assert (reached.launcher.given.cpus, reached.launcher.given.memory_gib) == (2, 4)


def test_a_return_does_not_wait_and_is_not_released_again(handle):
    reached = handle(Resizes)
    decide([RELEASE], reached, APPLY, now=1000.0)
    back = Adjustment(1010.0, "why", ReleasedShare("cpus", 2, 8))
    decisions, held = decide([back], reached, APPLY, now=1010.0)
    assert (len(decisions), held, reached.launcher.given.cpus) == (2, "", 8)
    again = Adjustment(2000.0, "why", ReleasedShare("cpus", 8, 1))
    assert len(decide([again], reached, APPLY, now=2000.0)[0]) == 2
