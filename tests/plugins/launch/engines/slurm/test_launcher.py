"""SLURM keeps the contract of launchers, on a real cluster of two nodes; and what only SLURM can do to a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from launches import Bench, Contract
from slurm_cluster import GPU_TYPE, NODES, Cluster

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.slurm import run_files
from jpo.plugins.launch.engines.slurm.launcher import SCRIPT, SlurmLauncher
from jpo.plugins.launch.engines.slurm.settings import SlurmTable
from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob, Needs
from jpo.plugins.launch.launcher import Resizable
from jpo.plugins.launch.ledger import Entry
from jpo.plugins.launch.lifecycle import start
from jpo.records import RunStatus

SUCCEEDS = """
import os, pathlib
print("hello", os.environ["JPO_RUN_ID"])
folder = pathlib.Path(os.environ["JPO_RUNLOG_DIR"])
(folder / f"{os.environ['JPO_RUN_ID']}.csv").write_text("# run_id=x\\n")
"""
COMMANDS = {
    "succeeds": (sys.executable, "-c", SUCCEEDS),
    "fails": ("sh", "-c", "exit 3"),
    "lasts": ("sleep", "120"),
}


@pytest.fixture
def bench(slurm_cluster: Cluster, tmp_path: Path) -> Bench:
    ledger = tmp_path / "launches"

    def launcher() -> SlurmLauncher:
        return SlurmLauncher(SlurmTable(), ledger, slurm_cluster.environment, time.time, grace_seconds=2)

    return Bench(launcher, COMMANDS, ledger, tmp_path, time.time, lambda seconds: time.sleep(min(seconds, 0.2)))


class TestSlurm(Contract):
    """All of the contract."""


def own(bench: Bench, command: tuple[str, ...], **changes: object) -> LaunchJob:
    return replace(bench.job("succeeds"), command=command, **changes)  # type: ignore[arg-type]


def steps(engine_id: str) -> list[int]:
    """Processes of SLURM that watch over a job here."""
    number = engine_id.partition(":")[0]
    said = subprocess.run(["pgrep", "--full", rf"^slurmstepd: \[{number}\."], capture_output=True, text=True, check=False).stdout
    return [int(pid) for pid in said.split()]


def output_of(bench: Bench, entry: Entry) -> str:
    return (bench.ledger / entry.job.run_id / "output.log").read_text()


def number_of(entry: Entry) -> str:
    return str(entry.engine_id).partition(":")[0]


def until_there(file: Path, text: str = "") -> None:
    deadline = time.monotonic() + 120
    while not file.exists() or text not in file.read_text():
        assert time.monotonic() < deadline, file
        time.sleep(0.05)


def test_what_a_run_used_and_where_is_known(bench: Bench) -> None:
    program = "import time; held = bytearray(200 * 2**20)\nwhile time.process_time() < 1.0: pass\ntime.sleep(1.5)"
    job = own(bench, (sys.executable, "-c", program), needs=Needs(gpus=1, cpus=2, memory_gib=1))
    end = bench.finish(bench.start(job)).end
    assert end is not None
    assert end.place in NODES
    assert 0.19 < (end.memory_gib or 0) < 0.5
    assert 0.9 < (end.cpu_seconds or 0) < 10.0


def test_output_and_values_are_for_the_user_alone_and_the_environment_is_as_the_site_has_it(
    bench: Bench, slurm_cluster: Cluster
) -> None:
    told = {**slurm_cluster.environment, "JPO_COMMENT_TOKEN": "s3cr3t", "WANDB_API_KEY": "the user's own"}
    launcher = SlurmLauncher(SlurmTable(), bench.ledger, told, time.time)
    job = own(bench, ("sh", "-c", 'env; printf "%s" "$VALUE"'), environment={"VALUE": "$(id) 'x\" %j"})
    entry = start(job, launcher, bench.ledger, now=time.time())
    bench.finish(entry)
    said = output_of(bench, entry)
    assert "WANDB_API_KEY=the user's own" in said
    assert "s3cr3t" not in said
    assert said.endswith("$(id) 'x\" %j")
    folder = bench.ledger / job.run_id
    assert {file.stat().st_mode & 0o077 for file in (folder / "output.log", *(folder / "slurm").iterdir())} == {0}


def test_several_gpus_and_nodes_run_one_task_each_that_torchrun_finds(bench: Bench) -> None:
    command = ("sh", "-c", "echo $SLURMD_NODENAME $SLURM_PROCID $PET_NNODES $PET_NPROC_PER_NODE $PET_RDZV_BACKEND $MASTER_ADDR")
    entry = bench.start(own(bench, command, needs=Needs(gpus=4, gpu_type="a100", cpus=4, nodes=2)))
    end = bench.finish(entry).end
    assert end is not None
    assert end.ended_as is RunStatus.SUCCEEDED, output_of(bench, entry)
    assert sorted(output_of(bench, entry).splitlines()) == ["n1 0 2 2 c10d n1", "n2 1 2 2 c10d n1"]
    assert (end.memory_gib, end.cpu_seconds) == (None, None)  # of one node it would be half of the truth


def test_room_is_what_slurm_has_free_now(bench: Bench) -> None:
    before = bench.launcher().room(Needs(gpus=1, gpu_type="a100"))
    entry = bench.start(bench.job("lasts", needs=Needs(gpus=2, gpu_type="a100", cpus=2, memory_gib=1)))
    bench.until_it_runs(entry)
    during = bench.launcher().room(Needs(gpus=4, gpu_type="a100", nodes=2))
    bench.launcher().cancel(str(entry.engine_id))
    bench.finish(entry)
    assert (before.gpus, before.cpus, before.free_gpus, before.note) == (2.0, 4.0, 4.0, "")
    assert (during.free_gpus, during.free_cpus) == (2.0, 6.0)
    assert during.free_memory_gib == pytest.approx((before.free_memory_gib or 0) - 1)
    assert before.wait_seconds == pytest.approx(0.0, abs=3.0)
    assert (during.wait_seconds or 0) > 60  # SLURM expects the other one to go on to its time limit


@pytest.mark.parametrize(
    ("site", "changes", "code", "said"),
    [
        (SlurmTable(partition="nope"), {}, "JPO-E753", "Invalid partition name specified"),
        (SlurmTable(options=("--licenses=nope",)), {}, "JPO-E753", "Invalid license specification"),
        (SlurmTable(options=("--frobnicate",)), {}, "JPO-E753", "unrecognized option"),
        (SlurmTable(), {"needs": Needs(cpus=40)}, "JPO-E755", "at most 4"),
        (SlurmTable(), {"needs": Needs(memory_gib=40)}, "JPO-E755", "at most 3000"),
        (SlurmTable(), {"needs": Needs(gpus=1, gpu_type="h100")}, "JPO-E755", "has none"),
        (SlurmTable(), {"needs": Needs(nodes=3)}, "JPO-E755", "at most 2"),
        (SlurmTable(partition="short"), {"longest_seconds": 3600.0}, "JPO-E755", "gives 10"),
    ],
)
def test_what_slurm_would_refuse_is_refused_first_in_its_words(
    bench: Bench, slurm_cluster: Cluster, site: SlurmTable, changes: dict[str, object], code: str, said: str
) -> None:
    launcher = SlurmLauncher(site, bench.ledger, slurm_cluster.environment, time.time)
    job = bench.job("succeeds", **changes)
    with pytest.raises(LaunchError, match=said) as caught:
        start(job, launcher, bench.ledger, now=time.time())
    assert caught.value.code == code
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    assert not (bench.ledger / job.run_id / "launch.json").exists()


def test_the_same_name_in_another_project_is_another_run(bench: Bench, tmp_path: Path, slurm_cluster: Cluster) -> None:
    job = bench.job("lasts")
    first = bench.start(job)
    elsewhere = SlurmLauncher(SlurmTable(), tmp_path / "other", slurm_cluster.environment, time.time)
    second = start(job, elsewhere, tmp_path / "other", now=time.time())
    assert second.engine_id != first.engine_id
    elsewhere.cancel(str(second.engine_id))
    assert not bench.launcher().status(str(first.engine_id)).over
    bench.launcher().cancel(str(first.engine_id))
    bench.finish(first)


def test_a_job_whose_number_was_lost_runs_once_and_either_number_tells_of_it(bench: Bench, slurm_cluster: Cluster) -> None:
    count = bench.folder / "count"
    entry = bench.start(own(bench, ("sh", "-c", 'echo once >>"$0"; sleep 1', str(count))))
    folder = bench.ledger / entry.job.run_id
    asked = ("sbatch", "--parsable", f"--job-name={entry.job.run_id}", f"--comment={folder}", "--output=/dev/null", str(SCRIPT))
    numbers = {number_of(entry), slurm_cluster.says(*asked, str(folder)).strip()}
    end = bench.finish(entry).end
    winner = run_files.began(folder)
    assert winner is not None
    (other,) = numbers - {winner.number}
    slurm_cluster.until("JobState=FAILED", "scontrol", "show", "job", other)
    assert count.read_text() == "once\n"
    assert [bench.launcher().status(f"{number}:{entry.job.run_id}") for number in numbers] == [end, end]
    assert bench.launcher().submit(entry.job, folder) == f"{winner.number}:{entry.job.run_id}"


@pytest.mark.parametrize("way", ["stop", "kill"])
def test_a_controller_that_restarts_is_waited_for(way: str, bench: Bench, slurm_cluster: Cluster) -> None:
    """One that had not saved that a job was launched launches it again, and its node cancels the first: SLURM does so."""
    count = bench.folder / "count"
    entry = bench.start(own(bench, ("sh", "-c", 'echo once >>"$0"; sleep 3; exit 4', str(count))))
    until_there(count)
    time.sleep(1)
    {"stop": slurm_cluster.stop, "kill": slurm_cluster.kill}[way]("controller")
    with pytest.raises(LaunchError) as caught:
        bench.launcher().status(str(entry.engine_id))
    assert caught.value.code == "JPO-E754"
    slurm_cluster.start("controller")
    end = bench.finish(entry).end
    assert end is not None
    assert end.exit_code == 4 or (end.exit_code is None and end.ended_as in (RunStatus.STOPPED, RunStatus.FAILED))  # or killed
    slurm_cluster.until_ready()
    assert count.read_text() == "once\n"


def test_how_a_job_ended_is_known_when_the_controller_has_forgotten_it(bench: Bench, slurm_cluster: Cluster) -> None:
    entry = bench.start(bench.job("fails"))
    end = bench.finish(entry).end
    assert end is not None
    slurm_cluster.kill("controller")
    slurm_cluster.start("controller", "-c")
    slurm_cluster.until_ready()
    completed = slurm_cluster.folder / "completed.txt"
    by_completion = bench.launcher().status(str(entry.engine_id))
    completed.unlink()
    by_the_script = bench.launcher().status(str(entry.engine_id))
    for found in (by_completion, by_the_script):
        assert (found.exit_code, found.ended_as, found.ended_at) == (3, RunStatus.FAILED, end.ended_at)
    assert bench.launcher().submit(entry.job, bench.ledger / entry.job.run_id) == entry.engine_id
    ours = bench.ledger / entry.job.run_id / "slurm"
    (ours / "end").unlink()
    assert bench.launcher().status(str(entry.engine_id)).state is JobState.RUNNING  # a sign of it is seconds old
    os.utime(ours / "began" / "alive", (0, 0))
    lost = bench.launcher().status(str(entry.engine_id))
    assert lost.state is JobState.UNKNOWN
    assert f"it began on {end.place}" in lost.reason


def test_a_run_on_a_node_that_is_lost_is_accounted_for(bench: Bench, slurm_cluster: Cluster) -> None:
    entry = bench.start(own(bench, ("sh", "-c", "echo begun; sleep 120")))
    until_there(bench.ledger / entry.job.run_id / "output.log", "begun")
    node = bench.launcher().status(str(entry.engine_id)).place
    slurm_cluster.kill(node)
    for step in steps(str(entry.engine_id)):
        os.kill(step, signal.SIGKILL)
    slurm_cluster.says("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=lost")  # sooner than SlurmdTimeout
    end = bench.finish(entry).end
    assert end is not None
    assert (end.ended_as, end.exit_code, end.place) == (RunStatus.STOPPED, None, node)
    assert "NODE_FAIL" in end.reason
    slurm_cluster.start(node)
    slurm_cluster.says("scontrol", "update", f"NodeName={node}", "State=RESUME")
    slurm_cluster.until_ready()


def test_a_job_that_somebody_requeues_does_not_run_again(bench: Bench, slurm_cluster: Cluster) -> None:
    entry = bench.start(own(bench, ("sh", "-c", "echo once; sleep 120")))
    until_there(bench.ledger / entry.job.run_id / "output.log", "once")
    number = number_of(entry)
    assert "disabled" in slurm_cluster.says("scontrol", "requeue", number)  # by --no-requeue
    slurm_cluster.says("scontrol", "update", f"JobId={number}", "Requeue=1")
    slurm_cluster.says("scontrol", "requeue", number)
    end = bench.finish(entry).end
    assert end is not None
    assert (end.ended_as, output_of(bench, entry).count("once")) == (RunStatus.STOPPED, 1)
    bench.launcher().cancel(str(entry.engine_id))


def test_the_end_counts_that_was_written_while_slurm_was_asked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between a look at the run's files and SLURM's answer a job may end."""
    entry = bench.start(own(bench, COMMANDS["lasts"], longest_seconds=0.5))
    expected = bench.finish(entry).end
    seen, read = iter([True]), run_files.ended
    monkeypatch.setattr(run_files, "ended", lambda folder: None if next(seen, False) else read(folder))
    assert bench.launcher().status(str(entry.engine_id)) == expected
    assert expected is not None
    assert (expected.ended_as, expected.exit_code) == (RunStatus.STOPPED, None)


def test_a_job_that_begins_while_slurm_is_asked_is_not_taken_for_a_requeued_one(
    bench: Bench, slurm_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between SLURM's answer that it waits and a look at the run's files a job may begin."""
    launcher = SlurmLauncher(SlurmTable(options=("--begin=now+1hour",)), bench.ledger, slurm_cluster.environment, time.time)
    entry = start(bench.job("succeeds"), launcher, bench.ledger, now=time.time())
    seen = iter([None, run_files.Began(number_of(entry), "n1", 5.0, 5.0)])
    monkeypatch.setattr(run_files, "began", lambda folder: next(seen, None))
    assert launcher.status(str(entry.engine_id)) == JobStatus(JobState.RUNNING, place="n1", started_at=5.0)
    launcher.cancel(str(entry.engine_id))


def test_another_job_that_got_the_number_is_neither_cancelled_nor_changed(bench: Bench, slurm_cluster: Cluster) -> None:
    """A controller that lost its state begins again with the first number."""
    entry = bench.start(bench.job("lasts"))
    stranger = slurm_cluster.says(
        "sbatch", "--parsable", "--hold", "--output=/dev/null", "--job-name=other", "--wrap=true"
    ).strip()
    mistaken = f"{stranger}:{bench.job('lasts').run_id}"
    launcher = bench.launcher()
    launcher.cancel(mistaken)
    with pytest.raises(LaunchError, match="is over"):
        launcher.resize(mistaken, Needs(cpus=2))
    said = slurm_cluster.says("scontrol", "show", "job", stranger)
    assert "JobState=PENDING" in said
    assert "NumCPUs=1" in said
    launcher.cancel(str(entry.engine_id))
    bench.finish(entry)
    slurm_cluster.says("scancel", stranger)


def test_a_cancelled_run_ends_whatever_scancel_is_told_by_the_users_environment(bench: Bench, slurm_cluster: Cluster) -> None:
    own_defaults = {
        "SCANCEL_STATE": "PENDING",
        "SCANCEL_INTERACTIVE": "true",
        "SQUEUE_PARTITION": "short",
        "SBATCH_GRES": "gpu:2",
    }
    told = {**slurm_cluster.environment, **own_defaults}
    launcher = SlurmLauncher(SlurmTable(), bench.ledger, told, time.time, grace_seconds=2)
    entry = start(bench.job("lasts"), launcher, bench.ledger, now=time.time())
    bench.until_it_runs(entry)
    assert "gpu:" not in slurm_cluster.says("scontrol", "show", "job", number_of(entry))
    launcher.cancel(str(entry.engine_id))
    end = bench.finish(entry).end
    assert end is not None
    assert end.ended_as is RunStatus.STOPPED


def test_a_job_that_is_cancelled_while_it_waits_never_began(bench: Bench, slurm_cluster: Cluster) -> None:
    launcher = SlurmLauncher(SlurmTable(options=("--begin=now+1hour",)), bench.ledger, slurm_cluster.environment, time.time)
    entry = start(bench.job("succeeds"), launcher, bench.ledger, now=time.time())
    waiting = launcher.status(str(entry.engine_id))
    assert (waiting.state, waiting.reason) == (JobState.WAITING, "BeginTime")
    assert (waiting.starts_at or 0) > time.time() + 3000
    launcher.resize(str(entry.engine_id), Needs(gpus=1, gpu_type="a100", cpus=2, memory_gib=0.5))
    said = slurm_cluster.says("scontrol", "--oneliner", "show", "job", number_of(entry))
    assert {"NumCPUs=2", "MinMemoryNode=512M", f"TresPerNode=gres:gpu:{GPU_TYPE}:1"} <= set(said.split())
    launcher.cancel(str(entry.engine_id))
    end = bench.finish(entry).end
    assert end is not None
    assert (end.ended_as, end.started_at) == (RunStatus.STOPPED, None)


def test_slurm_says_in_its_words_that_a_job_which_runs_keeps_what_it_has(bench: Bench) -> None:
    entry = bench.start(bench.job("lasts", needs=Needs(cpus=2)))
    bench.until_it_runs(entry)
    launcher = bench.launcher()
    assert isinstance(launcher, Resizable)
    with pytest.raises(LaunchError, match="no longer pending") as caught:
        launcher.resize(str(entry.engine_id), Needs(cpus=1))
    assert caught.value.code == "JPO-E753"
    launcher.cancel(str(entry.engine_id))
    bench.finish(entry)


def test_several_runs_start_as_one_array(bench: Bench) -> None:
    jobs = [own(bench, ("sh", "-c", f"echo $JPO_RUN_ID; exit {code}")) for code in (0, 3, 0)]
    folders = [bench.ledger / job.run_id for job in jobs]
    for folder in folders:
        (folder / "runs").mkdir(parents=True)
    launcher = bench.launcher()
    assert isinstance(launcher, SlurmLauncher)
    engine_ids = launcher.submit_all(jobs, folders, "baselines-1")
    assert launcher.submit_all(jobs, folders, "baselines-1") == engine_ids
    assert [launcher.find(job, folder) for job, folder in zip(jobs, folders, strict=True)] == engine_ids
    assert [launcher.submit(job, folder) for job, folder in zip(jobs, folders, strict=True)] == engine_ids
    entries = [Entry(job, "slurm", time.time(), engine_id) for job, engine_id in zip(jobs, engine_ids, strict=True)]
    ends = [bench.finish(entry).end for entry in entries]
    assert [end.exit_code for end in ends if end] == [0, 3, 0]
    assert [output_of(bench, entry).strip() for entry in entries] == [job.run_id for job in jobs]
    assert launcher.submit_all(jobs, folders, "baselines-1") == engine_ids


def test_an_array_of_runs_that_need_different_things_is_refused(bench: Bench) -> None:
    jobs = [bench.job("succeeds"), bench.job("succeeds", needs=Needs(gpus=1))]
    launcher = bench.launcher()
    assert isinstance(launcher, SlurmLauncher)
    with pytest.raises(LaunchError, match="one by one") as caught:
        launcher.submit_all(jobs, [bench.ledger, bench.ledger], "baselines-2")
    assert caught.value.code == "JPO-E762"


def test_without_slurm_its_package_is_named(bench: Bench) -> None:
    launcher = SlurmLauncher(SlurmTable(), bench.ledger, {"PATH": "/nowhere"}, time.time)
    with pytest.raises(LaunchError, match="slurm-client") as caught:
        launcher.room(Needs())
    assert caught.value.code == "JPO-E761"
