"""The loop of one job: what it makes, what it finds done, and that a kill at any instant costs nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import pytest
from launches import interrupted_once_submitted
from loops import Lab, logged, seconds_of
from simulated_engine import SimulatedLauncher, VirtualRun

import jpo.plugins.launch.lifecycle as lifecycle
import jpo.plugins.launch.story.optimize.following as following
import jpo.plugins.launch.story.optimize.loop as loop
from jpo import config
from jpo.errors import LaunchError
from jpo.history import verify
from jpo.history.store import Store
from jpo.plugins.launch.job import JobStatus, LaunchJob, Room
from jpo.plugins.launch.ledger import clean_up, entries, locked, read
from jpo.plugins.launch.watching import account
from jpo.project.workload import read_workload
from jpo.records import RunStatus

AS_THEY_ARE = {"batch_size": 64.0}
BOLD = {"batch_size": 128.0}
"""What `suggest` is told to write, where the test is about what happens around it."""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def run_ids(lab: Lab) -> list[str]:
    name = lab.task().name
    return [each.removeprefix(f"{name}-") for each in lab.started]


def test_baseline_runs_come_first_then_each_suggestion_has_its_run(lab: Lab) -> None:
    lab.chosen = BOLD
    (job,) = lab.optimize(runs=2, baseline=2).jobs
    assert run_ids(lab) == ["b1", "b2", "1", "2"]
    assert [each.run.parameters["batch_size"] for each in job.runs if each.run] == [64, 64, 128, 128]
    assert [*job.suggestions.values()] == [f"{job.name}-1", f"{job.name}-2"]
    assert job.missing == 0
    with lab.history() as store:
        assert [run.run_id for run in store.runs_following(f"{job.name}-1")] == [f"{job.name}-1"]


def test_no_trial_asks_for_more_than_the_engine_has_for_one_run(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Training that gets faster with each CPU: the loop would ask for more until the engine refused, and end there."""
    has = Room(gpus=0.0, cpus=4.0, memory_gib=8.0)
    monkeypatch.setattr(SimulatedLauncher, "room", lambda _self, _needs: has)
    lab.train = lambda job: logged(job, lab.now, 3600.0 / job.parameters["cpus"])
    (job,) = lab.optimize(runs=6).jobs
    asked = [each.run.parameters["cpus"] for each in job.runs if each.run]
    assert max(asked) == 4


def test_the_same_command_again_makes_nothing_and_a_longer_plan_makes_the_rest(lab: Lab) -> None:
    first = lab.optimize(runs=2)
    started = [*lab.started]
    assert lab.optimize(runs=2).jobs == first.jobs
    assert lab.started == started
    lab.optimize(runs=3)
    assert run_ids(lab) == ["b1", "1", "2", "3"]


def test_runs_whose_folders_were_cleaned_up_are_found_in_the_history(lab: Lab) -> None:
    """The last one of them was stopped where it could no longer win, which is no reason to make it again."""
    lab.train = lambda job: logged(job, lab.now, 9000.0 if job.run_id.endswith("-2") else seconds_of(job))
    first = lab.optimize(runs=2, baseline=2).jobs
    started, ledger = [*lab.started], lab.task().ledger
    clean_up(ledger, entries(ledger), before=lab.now + 1)
    assert not [*entries(ledger)]
    assert lab.optimize(runs=2, baseline=2).jobs == first
    assert lab.started == started
    lab.optimize(runs=3, baseline=2)
    assert run_ids(lab) == ["b1", "b2", "1", "2", "3"]


def test_a_baseline_is_not_made_up_for_once_values_were_suggested(lab: Lab) -> None:
    lab.optimize(runs=1, baseline=1)
    lab.optimize(runs=2, baseline=3)
    assert run_ids(lab) == ["b1", "1", "2"]


def test_a_run_of_the_baseline_that_failed_is_not_made_again_with_the_values_of_a_trial(lab: Lab) -> None:
    lab.chosen = BOLD
    lab.train = lambda job: logged(job, lab.now, 100.0, "failed" if job.run_id.endswith("-b1") else "succeeded")
    for _ in range(2):
        lab.optimize(runs=2, baseline=2)
        assert run_ids(lab) == ["b1", "b2", "1", "2"]


def test_a_trial_is_stopped_at_twice_what_the_best_values_take_and_the_loop_goes_on(lab: Lab) -> None:
    lab.chosen = BOLD

    def train(job: LaunchJob) -> VirtualRun:
        return logged(job, lab.now, 50_000.0 if job.run_id.endswith("-1") else 1000.0)

    lab.train = train
    (job,) = lab.optimize(runs=2, baseline=2).jobs
    stopped, after = job.runs[2], job.runs[3]
    assert stopped.run is not None
    assert stopped.run.status is RunStatus.STOPPED
    assert stopped.value("duration_seconds") == pytest.approx(2000, rel=0.03)  # and the start-up, which its engine must allow
    assert after.run is not None
    assert after.run.ended_well


def test_a_log_on_this_machine_stops_a_run_to_the_second(lab: Lab) -> None:
    """An engine that writes the log while it runs, and whose runs are slow to start: its own limit would be too late."""
    lab.chosen = BOLD

    class WithLogs(SimulatedLauncher):
        def submit(self, job: LaunchJob, folder: Path) -> str:
            made = super().submit(job, folder)
            start = f"# run_id={job.run_id}\n# dataset=digits\n# model=cnn\n# framework=torch\n# start={lab.now + 20:.3f}\n"
            (folder / "runs" / f"{job.run_id}.csv").write_text(start + "time,epoch,samples,train_loss,val_loss\n")
            return made

    lab.train = lambda job: replace(logged(job, lab.now, 50_000.0 if job.run_id.endswith("-1") else 1000.0))
    lab.engine = WithLogs(lab._course, lambda: lab.now)
    lab.optimize(runs=1, baseline=2)
    entry = lab.entries()[0]
    assert entry.end is not None
    assert entry.end.ended_as is RunStatus.STOPPED
    assert entry.end.reason == "cancelled"
    assert entry.end.ended_at == pytest.approx(entry.asked_at + 20 + 2000, abs=1.0)
    assert any("stopped after 33m 20s" in note for note in lab.notes)
    (stop,) = account.read(lab.task().ledger, entry.job.run_id)
    assert (stop.is_stop, stop.applied, stop.why) == (True, True, "it took 33m 20s, and can no longer win")
    with lab.history() as store:
        kinds = [event.kind for event in store.audit_records() if event.data.get("run_id") == entry.job.run_id]
    assert "adjusted" in kinds


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.DIVERGED])
def test_failed_runs_are_recorded_and_the_loop_goes_on(lab: Lab, status: RunStatus) -> None:
    lab.train = lambda job: logged(job, lab.now, seconds_of(job), status.value if job.run_id.endswith("-1") else "succeeded")
    ended = lab.optimize(runs=3)
    assert ended.failure is None
    assert [each.run.status for each in ended.jobs[0].runs if each.run][1] is status
    assert run_ids(lab) == ["b1", "1", "2", "3"]


def test_a_run_without_a_log_counts_by_what_its_engine_says(lab: Lab) -> None:
    lab.train = lambda _job: VirtualRun(100.0)
    (job,) = lab.optimize(runs=1).jobs
    assert [each.value("duration_seconds") for each in job.runs] == [pytest.approx(100), pytest.approx(100)]


def test_after_three_failures_in_a_row_it_gives_up_with_one_line_and_can_be_gone_on_with(lab: Lab) -> None:
    def train(job: LaunchJob) -> VirtualRun:
        fails = VirtualRun(5.0, ended_as=RunStatus.FAILED, output="starts\nOSError: no space\n")
        return logged(job, lab.now, seconds_of(job)) if job.run_id.endswith("-b1") else fails

    lab.train = train
    before = lab.config().read_text()
    ended = lab.optimize(runs=5)
    assert ended.failure is not None
    assert ended.failure.code == "JPO-E786"
    assert lab.config().read_text() == before  # and not the values of a trial that failed
    assert f"the last of them {lab.task().name}-3: OSError: no space" in str(ended.failure)
    assert run_ids(lab) == ["b1", "1", "2", "3"]
    assert ended.jobs[0].missing == 2
    lab.train = None
    assert lab.optimize(runs=5).failure is None
    assert run_ids(lab) == ["b1", "1", "2", "3", "4", "5"]


def test_a_job_that_cannot_run_is_not_run_with_other_values(lab: Lab) -> None:
    """All of its baseline failed: the command says why, changes nothing, and makes the baseline again once the job is mended."""
    lab.train = lambda _job: VirtualRun(5.0, ended_as=RunStatus.FAILED, output="ModuleNotFoundError: No module named 'x'\n")
    before = lab.config().read_text()
    for attempt in ("", ".2"):
        ended = lab.optimize(runs=5, baseline=2)
        assert ended.failure is not None
        assert ended.failure.code == "JPO-E786"
        assert f"-b2{attempt}: ModuleNotFoundError: No module named 'x'" in str(ended.failure)
    assert any(note.endswith("failed, 5s: ModuleNotFoundError: No module named 'x'") for note in lab.notes), lab.notes
    assert (lab.asked, lab.config().read_text()) == ([], before)
    lab.train = None
    assert lab.optimize(runs=1, baseline=2).failure is None
    assert run_ids(lab) == ["b1", "b2", "b1.2", "b2.2", "b1.3", "b2.3", "1"]


def test_values_that_diverge_from_the_start_are_changed(lab: Lab) -> None:
    """Other than a job that cannot run: a smaller learning rate may mend it."""
    lab.train = lambda job: logged(job, lab.now, 100.0, "diverged" if job.parameters["learning_rate"] >= 0.01 else "succeeded")
    (job,) = lab.optimize(runs=2, baseline=1).jobs
    assert [each.run.status for each in job.runs if each.run][-1] is RunStatus.SUCCEEDED


def test_config_ini_is_left_with_the_best_values_and_not_with_the_last_trial(lab: Lab) -> None:
    first = {"batch_size": 64.0, "learning_rate": 0.01, "cpus": 2.0}

    def train(job: LaunchJob) -> VirtualRun:
        return logged(job, lab.now, 1000.0 if first.items() <= job.parameters.items() else 1600.0)

    lab.train = train
    before = lab.config().read_text()
    (job,) = lab.optimize(runs=1, baseline=3).jobs
    tried = job.runs[-1].run
    assert tried is not None
    assert not first.items() <= tried.parameters.items()
    assert lab.config().read_text() == before
    assert lab.asked[-1] == f"{job.name}-best1"


def test_the_best_values_are_gone_back_to_from_further_away_than_one_step(lab: Lab) -> None:
    trials = {"-1": 256.0, "-2": 1024.0}  # each within max_change of the one before, and the last not of the first values
    lab.chosen, before = {"batch_size": 256.0}, lab.config().read_text()

    def train(job: LaunchJob) -> VirtualRun:
        lab.chosen = {"-1": {"batch_size": 1024.0}, "-2": {}}.get(job.run_id[-2:], lab.chosen)
        made = logged(job, lab.now, 1600.0 if job.run_id[-2:] in trials else 1000.0)
        return replace(made, log=made.log.replace("# status", "# converged=true\n# status"))

    lab.train = train
    (job,) = lab.optimize(runs=2, baseline=3).jobs
    assert [each.run.parameters["batch_size"] for each in job.runs[3:] if each.run] == [*trials.values()]
    assert lab.config().read_text() == before


def test_values_that_missed_their_target_are_not_run_again(lab: Lab) -> None:
    """All but the first ones miss it."""
    first = {"batch_size": 64.0, "learning_rate": 0.01, "epochs": 10.0, "cpus": 2.0}

    def train(job: LaunchJob) -> VirtualRun:
        made = logged(job, lab.now, 1000.0)
        reaches = str(first.items() <= job.parameters.items()).lower()
        return replace(made, log=made.log.replace("# status", f"# converged={reaches}\n# status"))

    lab.train = train
    (job,) = lab.optimize(runs=10, baseline=3).jobs
    missed = [tuple(each.run.parameters.values()) for each in job.runs if each.run and not each.ended_well]
    assert len(missed) == len({*missed})
    assert first.items() <= read_workload(lab.config(), lab.settings(), now=lab.now).current.items()


def test_where_no_run_reaches_its_target_config_ini_gets_its_first_values_back(lab: Lab) -> None:
    def train(job: LaunchJob) -> VirtualRun:
        made = logged(job, lab.now, 1000.0)
        return replace(made, log=made.log.replace("# status", "# converged=false\n# status"))

    lab.train, before = train, lab.config().read_text()
    (job,) = lab.optimize(runs=7, baseline=2).jobs
    tried = {tuple(each.run.parameters.values()) for each in job.runs[2:] if each.run}
    assert len(tried) == 7  # something else each time: of nothing that ended well there is no best
    assert lab.config().read_text() == before
    with lab.history() as store:
        assert store.suggestion(f"{job.name}-best7").codes == ("JPO-W651",)
    assert lab.notes[-1].endswith(": no run has ended well yet (9 did not): the first values come back [JPO-W651]")


def test_a_trial_that_cannot_win_is_stopped_before_twice_the_best_and_the_reason_is_on_the_audit_log(lab: Lab) -> None:
    """Its log, written epoch by epoch as time goes by, says that it will take four times as long."""
    lab.chosen, ends = BOLD, {}

    class Writing(SimulatedLauncher):
        def status(self, engine_id: str) -> JobStatus:
            status, lines = super().status(engine_id), ends[engine_id].log.splitlines()
            known = [line for line in lines if line[:1] in "#t" or float(line.split(",")[0]) <= lab.now]
            known = [line for line in known if not line.startswith(("# end", "# status"))]
            if not status.over:
                (lab.task().ledger / engine_id / "runs" / f"{engine_id}.csv").write_text("\n".join([*known, ""]))
            return status

    def train(job: LaunchJob) -> VirtualRun:
        ends[job.run_id] = logged(job, lab.now, 4000.0 if job.run_id.endswith("-1") else 1000.0)
        return ends[job.run_id]

    lab.train, lab.engine = train, Writing(lab._course, lambda: lab.now)
    (job,) = lab.optimize(runs=2, baseline=2).jobs
    seconds = job.runs[2].value("duration_seconds")
    assert seconds is not None
    assert seconds < 1900
    assert job.runs[2].run is not None
    assert job.runs[2].run.status is RunStatus.STOPPED
    assert job.missing == 0
    assert run_ids(lab) == ["b1", "b2", "1", "2"]  # and is not taken for one that was cut off
    assert any("-1: stopped: it is unlikely to beat" in note for note in lab.notes)
    with lab.history() as store:
        kinds = [event.kind for event in store.audit_records() if event.data.get("run_id") == f"{job.name}-1"]
    assert "adjusted" in kinds
    assert "adjustment settled" in kinds


def test_imports_that_take_longer_than_an_epoch_are_no_slow_pace(lab: Lab) -> None:
    """Before its log begins, a run imports its libraries: seconds, of which a small job needs less for all of its epochs."""
    config = lab.config()
    text = config.read_text(encoding="utf-8").replace("epochs = 10", "epochs = 400")
    config.write_text(text.replace("cpus = 2", "cpus = 2  # jpo: pin"), encoding="utf-8")  # no trial costs more by its CPUs

    def train(job: LaunchJob) -> VirtualRun:
        made = logged(job, lab.now + 900.0, 1000.0)
        log = made.log.replace("# status", "# converged=true\n# status")
        return replace(made, log=log, run_seconds=900.0 + made.run_seconds)

    lab.train = train
    (job,) = lab.optimize(runs=2, baseline=3).jobs
    assert [each.run.status for each in job.runs if each.run] == [RunStatus.SUCCEEDED] * 5


def test_runs_that_end_since_they_get_no_better_have_no_target_that_a_trial_is_too_far_from(lab: Lab) -> None:
    """They end after 10 of 400 epochs, too, and the trial takes half as long again: its model may be the better one."""
    config = lab.config()
    config.write_text(config.read_text(encoding="utf-8").replace("epochs = 10", "epochs = 400"), encoding="utf-8")
    lab.train = lambda job: logged(
        job, lab.now, 1000.0 if "-b" in job.run_id else 1500.0, loss=0.3 if "-b" in job.run_id else 0.6
    )
    (job,) = lab.optimize(runs=1, baseline=3).jobs
    assert [run.run.status for run in job.runs if run.run] == [RunStatus.SUCCEEDED] * 4
    assert not [note for note in lab.notes if "by its curve its target" in note]


def test_what_was_cut_off_from_outside_is_made_again(lab: Lab) -> None:
    def train(job: LaunchJob) -> VirtualRun:
        lost = job.run_id.endswith("-1")
        return replace(logged(job, lab.now, seconds_of(job)), **({"run_seconds": 90.0, "log": ""} if lost else {}),
                       ended_as=RunStatus.STOPPED if lost else RunStatus.SUCCEEDED)  # fmt: skip

    lab.train = train
    lab.chosen = BOLD
    (job,) = lab.optimize(runs=2).jobs
    assert run_ids(lab) == ["b1", "1", "1.2", "2"]
    assert [each.last for each in job.runs] == [True, False, True, True]
    assert job.missing == 0


def test_two_at_once_are_refused(lab: Lab) -> None:
    task = lab.task()
    with locked(task.ledger / ".optimize" / task.name):
        ended = lab.optimize()
    assert ended.failure is not None
    assert ended.failure.code == "JPO-E785"
    assert lab.started == []


def test_logs_of_earlier_runs_go_on_record_first(lab: Lab, tmp_path: Path) -> None:
    job = LaunchJob("old-1", lab.task().identity, ("x",), tmp_path, parameters={"batch_size": 64.0, "cpus": 2.0})
    (tmp_path / "old.csv").write_text(logged(job, lab.now - 9000, 500.0).log)
    plan = replace(following.LoopPlan(0, 0), logs=(str(tmp_path / "*.csv"),))
    from jpo.plugins.launch.story.optimize.loop import boundary_of, optimized

    assert [*optimized(lab.task(), plan, lab.outside())] == []
    with lab.history() as store:
        assert [run.run_id for run in store.runs_of(lab.task().identity)] == ["old-1"]
    assert boundary_of(lab.task(), BOLD).training_seconds == pytest.approx(1000)
    assert boundary_of(lab.task(), BOLD).in_all is None  # nobody knows how slow runs are to start


def test_the_history_goes_along_to_another_engine(lab: Lab) -> None:
    """The baseline and the first run on one engine, the next on another: one history, one belief."""
    lab.chosen = BOLD
    lab.optimize(runs=1)
    other = Lab(lab.folder, now=lab.now, chosen=BOLD)

    class Elsewhere(SimulatedLauncher):
        name = "elsewhere"

    other.engine = Elsewhere(other._course, lambda: other.now)
    (job,) = other.optimize(replace(other.task(), engine="elsewhere"), runs=2).jobs
    assert run_ids(other) == ["2"]
    assert [each.engine for each in job.runs] == ["simulated", "simulated", "elsewhere"]
    assert job.totals[0].runs == 2


def boundaries(monkeypatch: pytest.MonkeyPatch, crossed: Callable[[str], None]) -> None:
    """Have `crossed` called before and after everything that a kill may separate."""
    places: list[tuple[object, str]] = [
        *((Store, name) for name in ("append", "audit", "record")),
        (config, "write"),
        (lifecycle, "write"),
        (SimulatedLauncher, "submit"),
        (SimulatedLauncher, "collect"),
    ]

    def around(inner: Callable[..., object], name: str) -> Callable[..., object]:
        def crossing(*args: object, **kwargs: object) -> object:
            crossed(f"before {name}")
            result = inner(*args, **kwargs)
            crossed(f"after {name}")
            return result

        return crossing

    for owner, name in places:
        monkeypatch.setattr(owner, name, around(getattr(owner, name), name))


@dataclass(frozen=True)
class Left:
    """What a kill leaves: the files, and an engine outside of the process with its clock."""

    place: str
    files: Path
    lab: Lab

    @classmethod
    def of(cls, lab: Lab, place: str, files: Path) -> Self:
        shutil.copytree(lab.folder, files)
        return cls(place, files, cls.twin(lab))

    @staticmethod
    def twin(lab: Lab) -> Lab:
        made = Lab(lab.folder, now=lab.now, asked=[*lab.asked], started=[*lab.started], chosen=lab.chosen)
        assert isinstance(made.engine, SimulatedLauncher)
        assert isinstance(lab.engine, SimulatedLauncher)
        for name in ("_jobs", "_folders", "_cancelled"):
            setattr(made.engine, name, {**getattr(lab.engine, name)})
        return made

    def back(self) -> Lab:
        shutil.rmtree(self.lab.folder)
        shutil.copytree(self.files, self.lab.folder)
        return self.lab


def left_at_each_boundary(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[Left]]:
    """How many boundaries a run of the command crosses, and what kills there leave; what two of them leave alike, once."""
    places, left = list[str](), dict[object, Left]()

    def crossed(place: str) -> None:
        places.append(place)
        files = [(str(file), file.read_bytes()) for file in sorted(lab.folder.rglob("*")) if file.is_file()]
        known = tuple(each for each in files if not each[0].endswith("-shm"))  # an index of SQLite's, made anew by who opens it
        engine = (repr(lab.now), *lab.started, repr(getattr(lab.engine, "_cancelled", None)))
        if (known, engine) not in left:
            left[known, engine] = Left.of(lab, f"crossing {len(places)}, {place}", tmp_path / str(len(places)))

    with monkeypatch.context() as patch:
        boundaries(patch, crossed)
        lab.optimize(runs=2)
    return len(places), [*left.values()]


class Together(SimulatedLauncher):
    """An engine that takes several runs at once."""

    arrays = 0

    def submit_all(self, jobs: Sequence[LaunchJob], folders: Sequence[Path], name: str) -> list[str]:
        self.arrays += 1
        return [self.submit(job, folder) for job, folder in zip(jobs, folders, strict=True)]


def test_a_baseline_starts_together_where_the_engine_takes_several(lab: Lab) -> None:
    lab.engine = engine = Together(lab._course, lambda: lab.now)
    begun = lab.now
    (job,) = lab.optimize(runs=1, baseline=3).jobs
    assert run_ids(lab) == ["b1", "b2", "b3", "1"]
    assert (engine.arrays, job.missing) == (1, 0)
    assert lab.now - begun < 2.5 * 3600  # and not four hours
    assert lab.optimize(runs=1, baseline=3).jobs == [job]
    lab.optimize(runs=1, baseline=4)
    assert engine.arrays == 1


def test_interrupted_every_run_of_a_baseline_is_cancelled(lab: Lab) -> None:
    lab.engine = Together(lab._course, lambda: lab.now)

    def interrupted(seconds: float) -> None:
        sleep(seconds)
        if lab.now > 1_800_000_600:
            lab.sleep = sleep  # type: ignore[method-assign]
            raise KeyboardInterrupt

    sleep, lab.sleep = lab.sleep, interrupted  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        lab.optimize(runs=1, baseline=3)
    ends = [entry.end and entry.end.ended_as for entry in lab.entries()]
    assert ends == [RunStatus.STOPPED] * 3


def test_interrupted_while_a_baseline_is_submitted_every_run_is_cancelled(lab: Lab) -> None:
    class Interrupted(Together):
        def submit_all(self, jobs: Sequence[LaunchJob], folders: Sequence[Path], name: str) -> list[str]:
            super().submit_all(jobs, folders, name)
            raise KeyboardInterrupt

    lab.engine = Interrupted(lab._course, lambda: lab.now)
    with pytest.raises(KeyboardInterrupt):
        lab.optimize(runs=1, baseline=3)
    ends = [(entry.end and entry.end.ended_as, entry.recorded) for entry in lab.entries()]
    assert ends == [(RunStatus.STOPPED, True)] * 3


def test_a_run_that_cannot_be_cancelled_is_said_and_does_not_keep_the_others(lab: Lab) -> None:
    class Deaf(Together):
        def submit_all(self, jobs: Sequence[LaunchJob], folders: Sequence[Path], name: str) -> list[str]:
            super().submit_all(jobs, folders, name)
            raise KeyboardInterrupt

        def cancel(self, engine_id: str) -> None:
            if engine_id.endswith("b1"):
                raise LaunchError("scancel", "is away", code="JPO-E754")
            super().cancel(engine_id)

    lab.engine = Deaf(lab._course, lambda: lab.now)
    with pytest.raises(KeyboardInterrupt):
        lab.optimize(runs=1, baseline=3)
    assert [entry.end and entry.end.ended_as for entry in lab.entries()] == [None, RunStatus.STOPPED, RunStatus.STOPPED]
    assert any("b1: may still be running: scancel: is away" in note for note in lab.notes)


def test_after_three_failures_nobody_pays_for_the_rest_of_a_baseline(lab: Lab) -> None:
    lab.engine = Together(lab._course, lambda: lab.now)
    lab.train = lambda job: VirtualRun(60.0 if job.run_id[-1] in "123" else 9000.0, ended_as=RunStatus.FAILED)
    jobs = lab.optimize(runs=1, baseline=5).jobs
    assert "3 runs in a row have failed" in str(jobs[0].failure)
    ends = [entry.end and entry.end.ended_as for entry in lab.entries()]
    assert ends == [*[RunStatus.FAILED] * 3, *[RunStatus.STOPPED] * 2]


@pytest.mark.slow
def test_killed_at_any_boundary_the_same_command_goes_on_and_nothing_is_done_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crossings, every = left_at_each_boundary(Lab(tmp_path / "job", chosen=BOLD), tmp_path, monkeypatch)
    assert crossings > 30
    assert len(every) > 15
    for left in every:
        lab, place = left.back(), left.place
        (job,) = lab.optimize(runs=2).jobs
        assert run_ids(lab) == ["b1", "1", "2"], place
        assert [(each.run.run_id, each.run.parameters["batch_size"]) for each in job.runs if each.run] == [
            (f"{job.name}-b1", 64),
            (f"{job.name}-1", 128),
            (f"{job.name}-2", 128),
        ], place
        assert lab.config().read_text().count("batch_size = 128      # images") == 1, place
        assert all(entry.recorded for entry in lab.entries()), place
        with lab.history() as store:
            assert [made.suggestion_id.removeprefix(job.name) for made in store.suggestions_of()] == ["-1", "-2", "-best2"], place
            assert f"{job.name}-1" in store.written(lab.task().identity), place
            assert {run.run_id for run in store.runs_of(lab.task().identity)} == {each.run_id for each in job.runs}, place
            assert verify(store).ok, place


def test_interrupted_it_cancels_the_run_records_it_and_goes_on_later(lab: Lab) -> None:
    sleep, lab.chosen = lab.sleep, BOLD

    def interrupted(seconds: float) -> None:
        sleep(seconds)
        running = [entry for entry in entries(lab.task().ledger) if entry.job.run_id.endswith("-1") and not entry.end]
        if running and lab.now > running[0].asked_at + 60:
            lab.sleep, lab.chosen = sleep, AS_THEY_ARE  # type: ignore[method-assign]
            raise KeyboardInterrupt

    lab.sleep = interrupted  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        lab.optimize(runs=2)
    entry = read(lab.task().ledger, lab.task().run_id(1, baseline=False))
    assert entry is not None
    assert entry.end is not None
    assert (entry.end.ended_as, entry.recorded) == (RunStatus.STOPPED, True)
    assert "batch_size = 64 " in lab.config().read_text()  # and not the trial's values
    assert lab.notes[-1] == f"{lab.task().name}: interrupted; config.ini has the best values that are known"
    lab.chosen = BOLD
    (job,) = lab.optimize(runs=2).jobs
    assert run_ids(lab) == ["b1", "1", "1.2", "2"]
    assert [asked.partition("4806-")[2] for asked in lab.asked] == ["1", "best2", "1-3", "2", "best2-3"]
    assert [each.run.parameters["batch_size"] for each in job.runs if each.run] == [64, 128, 128, 128]


@pytest.mark.parametrize(("again_in", "left"), [("cancel_all", 64), ("suggested", 128)])
def test_interrupted_again_the_best_values_come_back_or_it_says_what_to_do(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, again_in: str, left: int
) -> None:
    lab.chosen, sleep = BOLD, lab.sleep

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    def interrupted_twice(seconds: float) -> None:
        sleep(seconds)
        if any(entry.job.run_id.endswith("-1") and not entry.end for entry in entries(lab.task().ledger)):
            lab.chosen = AS_THEY_ARE
            monkeypatch.setattr(loop, again_in, interrupted)
            interrupted()

    lab.sleep = interrupted_twice  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        lab.optimize(runs=2)
    assert f"batch_size = {left} " in lab.config().read_text()
    assert ("`jpo rollback" in lab.notes[-1]) == (left == 128), lab.notes


def test_interrupted_before_the_start_is_noted_it_cancels_the_run_and_records_it(lab: Lab) -> None:
    with interrupted_once_submitted(SimulatedLauncher), pytest.raises(KeyboardInterrupt):
        lab.optimize(runs=1)
    (entry,) = lab.entries()
    assert entry.end is not None
    assert (entry.end.ended_as, entry.recorded) == (RunStatus.STOPPED, True)


def test_an_engine_that_cannot_be_reached_for_a_while_is_asked_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_status, failures = lifecycle.ask_status, iter(range(3))

    def flaky(*args: object) -> object:
        if next(failures, None) is not None:
            raise LaunchError("engine", "is away", "wait", code="JPO-E754")
        return ask_status(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(lifecycle, "ask_status", flaky)
    assert lab.optimize(runs=1).failure is None


def test_the_loop_is_done_where_two_runs_in_a_row_kept_their_values_unless_all_are_wanted(lab: Lab) -> None:
    lab.chosen = AS_THEY_ARE
    (job,) = lab.optimize(runs=6, baseline=2, all_wanted=False).jobs
    assert run_ids(lab) == ["b1", "b2", "1", "2"]
    assert (job.missing, job.best and job.best.values) == (0, {})
    assert any("done: two runs in a row kept their values" in note for note in lab.notes)
    (job,) = lab.optimize(runs=6, baseline=2).jobs
    assert run_ids(lab) == ["b1", "b2", "1", "2", "3", "4", "5", "6"]


def test_more_runs_after_it_was_done_end_with_what_is_best_then(lab: Lab) -> None:
    lab.chosen = AS_THEY_ARE
    lab.optimize(runs=6, baseline=2, all_wanted=False)
    lab.chosen = BOLD
    for _ in range(2):  # and the same command again suggests nothing more
        (job,) = lab.optimize(runs=6, baseline=2).jobs
        assert job.best is not None
        assert job.best.values == BOLD
        assert [asked.partition("best")[2] for asked in lab.asked if "best" in asked] == ["6", "6-3"]


def test_what_the_engine_ended_at_a_limit_that_jpo_gave_it_was_stopped_by_jpo(lab: Lab) -> None:
    """No log is seen while the run goes on."""
    lab.chosen = BOLD
    lab.train = lambda job: logged(job, lab.now, 50_000.0 if job.run_id.endswith("-1") else 1000.0)
    (job,) = lab.optimize(runs=1, baseline=2).jobs
    assert [run.stopped for run in job.runs] == [False, False, True]
    with lab.history() as store:
        assert store.stopped_by_jpo() == {job.runs[2].run_id}


def test_the_users_own_values_have_all_the_time_they_take_though_none_has_ended_well_with_them(lab: Lab, tmp_path: Path) -> None:
    lab.chosen = AS_THEY_ARE
    old = LaunchJob("old-1", lab.task().identity, ("x",), tmp_path, parameters={"batch_size": 32.0, "cpus": 2.0})
    (tmp_path / "old.csv").write_text(logged(old, lab.now - 9000, 500.0).log)
    lab.optimize(runs=0, baseline=0, logs=(str(tmp_path / "*.csv"),))
    (job,) = lab.optimize(runs=1, baseline=0).jobs
    assert [(run.ended_well, run.stopped) for run in job.runs] == [(True, False)]


def test_a_run_of_values_that_ended_well_has_all_the_time_it_takes(lab: Lab) -> None:
    """The values of the baseline, ten times slower than usual: they are wanted for their model."""
    lab.chosen = AS_THEY_ARE
    lab.train = lambda job: logged(job, lab.now, 10_000.0 if job.run_id.endswith("-1") else 1000.0)
    (job,) = lab.optimize(runs=1, baseline=3).jobs
    assert [run.ended_well for run in job.runs] == [True] * 4
