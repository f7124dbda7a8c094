import time
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest
from simulated_engine import SimulatedLauncher, VirtualRun

from jpo.errors import LaunchError
from jpo.plugins.launch.job import JobState, LaunchJob
from jpo.plugins.launch.ledger import read, write
from jpo.plugins.launch.lifecycle import start
from jpo.plugins.launch.watching.observers import LaunchObserver, LogObserver
from jpo.records import VAL_LOSS, Identity, RunStatus
from jpo.telemetry.outcome import NONE_OWN

IDENTITY = Identity("digits", "cnn", "pytorch")
HEAD = "# run_id=night-1\n# dataset=digits\n# model=cnn\n# framework=pytorch\n# batch_size=64\n# epochs=4\n# start=1000\n"
COLUMNS = "time,epoch,samples,train_loss,val_loss\n"


@pytest.fixture
def log(tmp_path):
    with closing(LogObserver(tmp_path / "log.csv", NONE_OWN)) as observer:
        yield tmp_path / "log.csv", observer


def test_there_is_nothing_to_see_before_the_head_is_whole(log):
    path, observer = log
    assert observer.observe(1000) is None
    path.write_text(HEAD[:30] + "\n")
    assert observer.observe(1000) is None


def test_a_log_that_grows_is_seen_row_by_row(log):
    path, observer = log
    path.write_text(HEAD + COLUMNS + "1010,1,100,0.5,0.6\n")
    first = observer.observe(1012)
    path.write_text(HEAD + COLUMNS + "1010,1,100,0.5,0.6\n1020,2,200,0.4,0.5\n")
    second = observer.observe(1022)
    assert [first.training.last_epoch, second.training.last_epoch] == [1, 2]
    assert (second.state, second.elapsed_seconds, second.training.samples_per_second) == (JobState.RUNNING, 22, 10)
    assert second.curve(VAL_LOSS) == ((1, 0.6), (2, 0.5))
    assert second.parameters == {"batch_size": 64, "epochs": 4}


def test_a_closed_log_says_how_its_run_ended(log):
    path, observer = log
    path.write_text(HEAD + COLUMNS + "1010,1,100,0.5,0.6\n# end=1011\n# status=oom_killed\n")
    seen = observer.observe(5000)
    assert (seen.state, seen.status, seen.times.ended_at) == (JobState.ENDED, RunStatus.OOM_KILLED, 1011)
    assert seen.elapsed_seconds == 11


def test_a_log_that_fell_silent_has_ended_and_says_so(log):
    path, observer = log
    path.write_text(HEAD + COLUMNS + "1010,1,100,0.5,0.6\n")
    seen = observer.observe(100_000)
    assert seen.over
    assert "nothing for" in seen.words


@pytest.mark.parametrize(
    ("row", "diverged"), [("nan,nan", True), ("0.5,nan", False), ("inf,0.5", True), ("0.5,0.5", False), (",", False)]
)
def test_losses_that_are_no_numbers_are_seen(log, row, diverged):
    path, observer = log
    path.write_text(f"{HEAD}{COLUMNS}1010,1,100,{row}\n")
    assert observer.observe(1012).diverged is diverged


def test_a_validation_loss_that_is_no_number_twice_in_a_row_is_divergence_and_one_that_came_back_is_not(log):
    path, observer = log
    text = f"{HEAD}{COLUMNS}1010,1,100,0.5,0.6\n1020,2,200,0.4,nan\n"
    path.write_text(text)
    assert not observer.observe(1022).diverged
    path.write_text(f"{text}1030,3,300,0.4,nan\n")
    assert observer.observe(1032).diverged
    path.write_text(f"{text}1030,3,300,0.4,0.5\n")
    assert not observer.observe(1032).diverged


def test_a_machine_whose_clock_is_slow_or_fast_does_not_look_dead(log):
    path, observer = log
    now = time.time()
    for ahead in (-9000.0, 5000.0):
        start = now + ahead - 30
        path.write_text(HEAD.replace("start=1000", f"start={start}") + COLUMNS + f"{start + 30},1,100,0.5,0.6\n")
        seen = observer.observe(now + 1)
        assert seen.state is JobState.RUNNING
        assert 29 < seen.elapsed_seconds < 60


@pytest.mark.parametrize("epoch", ["nan", "inf", "-3"])
def test_a_number_that_counts_no_epochs_is_none(log, epoch):
    path, observer = log
    path.write_text(f"{HEAD}{COLUMNS}1010,1,100,0.5,0.6\n1020,{epoch},200,0.4,0.5\n")
    seen = observer.observe(1022)
    assert seen.training.last_epoch is None
    assert seen.curve(VAL_LOSS) == ((1, 0.6),)


def test_a_run_that_began_again_in_its_log_is_where_it_says_now(log):
    path, observer = log
    rows = [f"{1000 + 10 * n},{n},{100 * n},0.5,{1 / n}" for n in (1, 2, 3)] + ["1040,1,100,0.5,0.9"]
    path.write_text(HEAD + COLUMNS + "\n".join(rows) + "\n")
    seen = observer.observe(1042)
    assert (seen.epochs_done, seen.curve(VAL_LOSS), seen.epochs.times) == (1, ((1, 0.9),), ((1, 40),))


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def launched(repository, tmp_path):
    """`launched(virtual) -> (observer, launcher, clock)` of a run of a simulated engine."""

    opened = ExitStack()

    def made(virtual, launcher_class=SimulatedLauncher):
        clock, (_, settings) = Clock(), repository()
        launcher = launcher_class(lambda job, now: virtual, clock)
        job = LaunchJob("night-1", IDENTITY, ("train",), tmp_path, parameters={"batch_size": 64.0})
        entry = start(job, launcher, tmp_path / "launches", now=clock.now)
        observer = LaunchObserver(entry, launcher, tmp_path / "launches", settings)
        return opened.enter_context(closing(observer)), launcher, clock

    with opened:
        yield made


def test_a_launched_run_waits_runs_and_ends(launched):
    observer, _, clock = launched(VirtualRun(100, wait_seconds=50, ended_as=RunStatus.FAILED))
    states = []
    for clock.now in (1000.0, 1060.0, 1200.0):
        seen = observer.observe(clock.now)
        states.append((seen.state, seen.times.starts_at, seen.elapsed_seconds, seen.status))
    assert states == [
        (JobState.WAITING, 1050, None, None),
        (JobState.RUNNING, None, 10, None),
        (JobState.ENDED, None, 100, RunStatus.FAILED),
    ]


def test_an_engine_that_cannot_be_reached_is_said_in_words(launched):
    class Away(SimulatedLauncher):
        def status(self, engine_id):
            raise LaunchError("cluster", "does not answer", "check it", code=self.code)

    observer, launcher, clock = launched(VirtualRun(100), Away)
    launcher.code = "JPO-E754"
    assert "does not answer" in observer.observe(clock.now).words
    launcher.code = "JPO-E753"
    with pytest.raises(LaunchError):
        observer.observe(clock.now)


def test_its_log_says_more_than_its_engine(launched, tmp_path):
    observer, _, clock = launched(VirtualRun(100))
    runs = tmp_path / "launches" / "night-1" / "runs"
    runs.mkdir(exist_ok=True)
    (runs / "night-1.csv").write_text(HEAD + COLUMNS + "1010,1,100,0.5,0.6\n")
    clock.now = 1012.0
    seen = observer.observe(clock.now)
    assert (seen.source, seen.epochs_done, seen.parameters["epochs"]) == ("simulated", 1, 4)


def test_what_engines_measure_is_passed_on(launched):
    class Measures(SimulatedLauncher):
        def status(self, engine_id):
            return replace(super().status(engine_id), memory_gib=2.5, busy_cpus=7.0, reason="busy", place="node-3")

    observer, _, clock = launched(VirtualRun(100), Measures)
    seen = observer.observe(clock.now)
    assert (seen.use.memory_gib, seen.use.busy_cpus, seen.words, seen.place) == (2.5, 7.0, "busy", "node-3")


def test_what_its_launcher_could_not_note_is_found(launched, tmp_path):
    observer, _, clock = launched(VirtualRun(100))
    entry = read(tmp_path / "launches", "night-1")
    write(tmp_path / "launches", replace(entry, engine_id=None))
    assert observer.observe(clock.now).state is JobState.RUNNING
    assert read(tmp_path / "launches", "night-1") == entry


def test_a_launched_run_is_seen_as_what_was_launched_whatever_its_log_calls_itself(launched, tmp_path):
    observer, _, clock = launched(VirtualRun(100))
    runs = tmp_path / "launches/night-1/runs"
    (runs / "mine.csv").write_text(f"{HEAD.replace('night-1', 'mine').replace('cnn', 'mlp')}{COLUMNS}1010,1,10,0.5,0.6\n")
    clock.now = 1020.0
    seen = observer.observe(clock.now)
    assert (seen.run_id, seen.identity, seen.training.last_epoch) == ("night-1", IDENTITY, 1)
    assert (
        seen.words
        == "Its log is of run mine of digits/mlp/pytorch; it counts as what was launched, night-1 of digits/cnn/pytorch"
    )
