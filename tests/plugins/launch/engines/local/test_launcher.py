"""This machine as an engine: the contract, then attacks. Runs are real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from launches import Bench, Contract

from jpo.errors import LaunchError
from jpo.inventory.gpus import Gpu
from jpo.inventory.machine import Machine
from jpo.plugins.launch.engines.local.launcher import LocalLauncher
from jpo.plugins.launch.engines.local.processes import marked
from jpo.plugins.launch.engines.local.state_file import Place, RunState, read_state, write_state
from jpo.plugins.launch.job import JobState, JobStatus, Needs
from jpo.records import RunStatus


def machine(gpus: tuple[Gpu, ...] | None, why: str = "") -> Machine:
    return Machine(gpus, why, 4.0, 4, "", 8.0, 8.0)


def gpu(uuid: str, used_gib: float | None) -> Gpu:
    return Gpu("NVIDIA A100", "a100", 40.0, None, used_gib, uuid)


HERE = machine((gpu("GPU-a", 0.1), gpu("GPU-b", 14.0), gpu("GPU-c", None)))
LOG = """
import os, pathlib, time
print("hello")
now = time.time()
text = f"# run_id={os.environ['JPO_RUN_ID']}\\n# dataset=digits\\n# model=cnn\\n# framework=pytorch\\n# start={now - 1}\\n"
text += f"time,epoch,samples,train_loss,val_loss\\n{now},1,10,0.5,0.6\\n# end={now}\\n# status=succeeded\\n"
pathlib.Path(os.environ["JPO_RUNLOG_DIR"], os.environ["JPO_RUN_ID"] + ".csv").write_text(text)
"""
RUNS_AWAY = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    os._exit(0)
time.sleep(0.3)
"""
COMMANDS = {
    "succeeds": (sys.executable, "-c", LOG),
    "fails": (sys.executable, "-c", "raise SystemExit(3)"),
    "lasts": (sys.executable, "-c", "import time; time.sleep(90)"),
    "runs away": (sys.executable, "-c", RUNS_AWAY),
    "lasts, and runs away": (sys.executable, "-c", f"{RUNS_AWAY}\ntime.sleep(60)"),
    "is deaf": (sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"),
    "is killed": (sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"),
    "takes memory": (sys.executable, "-c", "import time; held = bytearray(300_000_000); time.sleep(60)"),
    "prints environment": ("/usr/bin/env", "-0"),
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    ledger = tmp_path / "launches"

    def launcher() -> LocalLauncher:
        leases = tmp_path / "leases"
        return LocalLauncher(ledger, lambda: HERE, os.environ, detached=True, leases_in=leases, grace_seconds=0.5)

    return Bench(launcher, COMMANDS, ledger, tmp_path, time.time, time.sleep)


class TestLocal(Contract):
    pass


def ended(bench: Bench, command: str, **changes: object) -> JobStatus:
    end = bench.finish(bench.start(bench.job(command, **changes))).end
    assert end is not None
    return end


def state_of(bench: Bench, run_id: str) -> RunState:
    state = read_state(bench.ledger / run_id)
    assert state is not None
    return state


def variables(bench: Bench, **changes: object) -> dict[str, str]:
    """What a run finds in its environment."""
    entry = bench.finish(bench.start(bench.job("prints environment", **changes)))
    output = (bench.ledger / entry.job.run_id / "output.log").read_text()
    return dict(text.split("=", 1) for text in output.split("\0") if text)


def until(true: Callable[[], object]) -> None:
    for _ in range(1200):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it did not become true")


def test_a_run_is_told_its_id_its_threads_and_its_values(bench: Bench) -> None:
    odd = "a 'b' \"c\" $(touch x)\n;`id`"
    found = variables(bench, needs=Needs(cpus=2), environment={"JPO_BATCH_SIZE": "64", "ODD": odd}, parameters={"gpus": 0.0})
    assert found["JPO_RUN_ID"] == bench.run_ids[-1]
    assert found["JPO_RUNLOG_DIR"] == str(bench.ledger / bench.run_ids[-1] / "runs")
    assert found["OMP_NUM_THREADS"] == found["MKL_NUM_THREADS"] == "2"
    assert found["JPO_BATCH_SIZE"] == "64"
    assert found["ODD"] == odd
    assert found["CUDA_VISIBLE_DEVICES"] == ""


def test_a_run_gets_gpus_that_nobody_uses_and_nobody_else_gets_them(bench: Bench) -> None:
    first = bench.start(bench.job("lasts", needs=Needs(gpus=2)))
    environment = Path(f"/proc/{marked(state_of(bench, first.job.run_id).token)[0]}/environ").read_bytes()
    assert b"CUDA_VISIBLE_DEVICES=GPU-a,GPU-c" in environment.split(b"\0")
    with pytest.raises(
        LaunchError, match=r"asks for 1 GPUs, and 0 of 3 are free: GPU 0 has a run of JPO, GPU 1 has 14 GiB in use"
    ):
        bench.start(bench.job("lasts", needs=Needs(gpus=1)))
    bench.launcher().cancel(str(first.engine_id))
    bench.finish(first)
    assert variables(bench, needs=Needs(gpus=1))["CUDA_VISIBLE_DEVICES"] == "GPU-a"


def test_a_run_is_bound_to_as_many_cpus_as_it_asks_for_and_two_runs_share_none(bench: Bench) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine has one CPU")
    entries = [bench.start(bench.job("lasts", needs=Needs(cpus=1))) for _ in range(2)]
    held = [os.sched_getaffinity(marked(state_of(bench, entry.job.run_id).token)[0]) for entry in entries]
    assert [len(cpus) for cpus in held] == [1, 1]
    assert not held[0] & held[1]
    for entry in entries:
        bench.launcher().cancel(str(entry.engine_id))
        bench.finish(entry)


@pytest.mark.parametrize(
    ("needs", "words"),
    [
        (Needs(cpus=64), "asks for 64 CPUs, and 4 can be used here"),
        (Needs(memory_gib=100), "asks for 100 GiB of memory, and 8 can be used here"),
        (Needs(nodes=2), "this machine is one"),
        (Needs(gpus=2), "2 GPUs"),
    ],
)
def test_what_is_not_here_is_refused(bench: Bench, needs: Needs, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = LocalLauncher(bench.ledger, lambda: machine(None, "no nvidia-smi"), {}, leases_in=bench.folder / "leases")
    with pytest.raises(LaunchError, match=words) as caught:
        launcher.refuse(bench.job("lasts", needs=needs))
    assert caught.value.code == "JPO-E755"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("nosuch", "not a program"),
        ("./text", "not executable"),
        ("./none", "not a program"),
        (f"/{'x' * 5000}", "not a program"),  # which the system does not even look at, as what lies in a folder of others
    ],
)
def test_a_command_that_cannot_be_started_is_refused_before_anything_is_made(bench: Bench, command: str, words: str) -> None:
    (bench.folder / "text").write_text("hello")
    job = replace(bench.job("lasts"), command=(command,))
    with pytest.raises(LaunchError, match=words) as caught:
        bench.start(job)
    assert caught.value.code == "JPO-E758"
    assert not (bench.ledger / job.run_id).exists()


def test_a_program_that_the_system_does_not_execute_is_told_in_its_words_and_can_be_started_again(bench: Bench) -> None:
    broken = bench.folder / "broken"
    broken.write_text("#!/nowhere/python\n")
    broken.chmod(0o755)
    job = replace(bench.job("lasts"), command=(str(broken),))
    for _ in range(2):
        with pytest.raises(LaunchError, match="cannot be started: No such file") as caught:
            bench.start(job)
        assert caught.value.code == "JPO-E753"


def test_what_a_run_leaves_behind_ends_with_it_however_it_hides(bench: Bench) -> None:
    job = bench.job("runs away")
    end = bench.finish(bench.start(job)).end
    assert end is not None
    assert end.ended_as is RunStatus.SUCCEEDED
    assert marked(state_of(bench, job.run_id).token) == []


def test_a_run_that_ignores_being_asked_is_killed(bench: Bench) -> None:
    end = ended(bench, "is deaf", longest_seconds=1.0)
    assert end.ended_as is RunStatus.STOPPED
    assert "longer than the 1 s" in end.reason
    assert end.exit_code is None


def test_a_run_that_ends_by_a_signal_says_which(bench: Bench) -> None:
    end = ended(bench, "is killed")
    assert (end.ended_as, end.exit_code, end.reason) == (RunStatus.FAILED, None, "ended by SIGSEGV")


def test_a_run_that_takes_more_memory_than_it_may_is_ended_as_out_of_memory(bench: Bench) -> None:
    end = ended(bench, "takes memory", needs=Needs(memory_gib=0.1))
    assert end.ended_as is RunStatus.OOM_KILLED
    assert end.memory_gib is not None
    assert end.memory_gib > 0.1


def test_cpu_time_and_memory_are_those_of_all_processes(bench: Bench) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'for _ in range(10**7): pass'])"
    end = bench.finish(bench.start(replace(bench.job("lasts"), command=(sys.executable, "-c", code)))).end
    assert end is not None
    assert end.cpu_seconds is not None
    assert end.cpu_seconds > 0.1


def test_when_its_supervisor_is_killed_nothing_is_left_running_and_the_run_is_accounted_for(bench: Bench) -> None:
    entry = bench.start(bench.job("lasts, and runs away"))
    state = state_of(bench, entry.job.run_id)
    until(lambda: len(marked(state.token)) >= 2)  # the supervisor itself has no mark
    assert state.supervisor is not None
    os.kill(state.supervisor, signal.SIGKILL)
    until(lambda: bench.launcher().status(str(entry.engine_id)).over)
    end = bench.finish(entry).end
    assert end is not None
    assert (end.state, end.ended_as) == (JobState.ENDED, RunStatus.STOPPED)
    assert "lost" in end.reason
    assert marked(state.token) == []


def test_a_run_that_ended_before_its_supervisor_was_killed_is_not_lost(bench: Bench) -> None:
    entry = bench.start(bench.job("runs away"))  # what it leaves behind takes seconds to end
    until(lambda: state_of(bench, entry.job.run_id).exit is not None)
    state = state_of(bench, entry.job.run_id)
    assert state.end is None
    assert state.supervisor is not None
    os.kill(state.supervisor, signal.SIGKILL)
    until(lambda: bench.launcher().status(str(entry.engine_id)).over)
    end = bench.finish(entry).end
    assert end is not None
    assert (end.ended_as, end.exit_code, end.reason, end.ended_at) == (RunStatus.SUCCEEDED, 0, "", state.ended_at)
    assert marked(state.token) == []


def test_when_its_launcher_is_killed_a_run_ends_unless_it_is_detached(bench: Bench) -> None:
    job = bench.job("lasts")
    code = f"""
import os, pathlib, time
from jpo.plugins.launch.lifecycle import start
from jpo.plugins.launch.job import LaunchJob
from jpo.inventory.machine import Machine
from jpo.plugins.launch.engines.local.launcher import LocalLauncher
from jpo.records import Identity
job = LaunchJob({job.run_id!r}, Identity("digits", "cnn", "pytorch"), {job.command!r}, pathlib.Path({str(job.folder)!r}))
ledger = pathlib.Path({str(bench.ledger)!r})
launcher = LocalLauncher(ledger, lambda: Machine((), "", 4.0, 4, "", 8.0, 8.0), os.environ, leases_in=ledger.parent / "leases")
start(job, launcher, ledger, now=time.time())
os.kill(os.getpid(), 9)
"""
    killed = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    end = bench.finish(bench.entry(job.run_id)).end
    assert end is not None
    assert (end.ended_as, end.reason) == (RunStatus.STOPPED, "the process that launched it ended")


def test_several_that_submit_one_run_at_once_start_it_once(bench: Bench) -> None:
    job, found = bench.job("lasts"), list[str]()
    folder = bench.ledger / job.run_id
    (folder / "runs").mkdir(parents=True)

    def submit() -> None:
        for _ in range(600):
            with suppress(LaunchError):  # another one is just about to
                found.append(bench.launcher().submit(job, folder))
                return
            time.sleep(0.05)

    threads = [threading.Thread(target=submit) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 5
    assert len(set(found)) == 1
    assert len(marked(state_of(bench, job.run_id).token)) == 1
    bench.launcher().cancel(found[0])
    until(lambda: bench.launcher().status(found[0]).over)


def test_a_number_that_another_process_has_got_meanwhile_is_not_asked_to_end(bench: Bench) -> None:
    with subprocess.Popen(["/bin/sleep", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as other:
        entry = bench.start(bench.job("lasts"))
        folder = bench.ledger / entry.job.run_id
        state = state_of(bench, entry.job.run_id)
        write_state(folder, replace(state, supervisor=other.pid))
        bench.launcher().cancel(str(entry.engine_id))
        time.sleep(0.2)
        assert other.poll() is None
        other.kill()
        write_state(folder, state)
        bench.launcher().cancel(str(entry.engine_id))
        bench.finish(entry)


def test_a_run_that_was_begun_on_another_machine_is_told_from_one_that_is_gone(bench: Bench) -> None:
    folder = bench.ledger / "far"
    folder.mkdir(parents=True)
    write_state(folder, RunState("token", Place("elsewhere", "boot", "pid"), supervisor=1, started_at=1.0))
    assert bench.launcher().status("far/token").state is JobState.RUNNING
    with pytest.raises(LaunchError, match="cancel it there"):
        bench.launcher().cancel("far/token")
    os.utime(folder / "local.json", (1000, 1000))
    gone = bench.launcher().status("far/token")
    assert (gone.state, gone.ended_as, gone.ended_at) == (JobState.ENDED, RunStatus.STOPPED, 1000)


def test_output_is_for_the_user_alone(bench: Bench) -> None:
    entry = bench.finish(bench.start(bench.job("succeeds")))
    assert (bench.ledger / entry.job.run_id / "output.log").stat().st_mode & 0o777 == 0o600


BUSY = (sys.executable, "-c", "import time\nuntil = time.time() + 60\nwhile time.time() < until: pass")


def running(bench: Bench, command: tuple[str, ...], needs: Needs) -> tuple[LocalLauncher, str]:
    """A run of this command that goes on, and its launcher."""
    entry = bench.start(replace(bench.job("lasts"), command=command, needs=needs))
    assert entry.engine_id is not None
    return cast(LocalLauncher, bench.launcher()), entry.engine_id


def test_what_a_run_uses_is_known_while_it_goes_on(bench: Bench) -> None:
    launcher, run = running(bench, BUSY, Needs(cpus=1))
    until = time.monotonic() + 60
    while not (launcher.status(run).busy_cpus or 0) > 0.1 and time.monotonic() < until:
        time.sleep(0.1)
    status = launcher.status(run)
    launcher.cancel(run)
    assert status.busy_cpus is not None
    assert status.busy_cpus > 0.1
    assert status.cpu_seconds is not None
    assert status.cpu_seconds > 0.1


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this machine lets one CPU be used")
def test_cpus_that_a_run_gives_back_are_free_for_others_and_it_can_get_them_again(bench: Bench) -> None:
    every = len(os.sched_getaffinity(0))
    launcher, run = running(bench, COMMANDS["lasts"], Needs(cpus=every))
    held = launcher.room(Needs(cpus=1)).free_cpus
    launcher.resize(run, Needs(cpus=1))
    until = time.monotonic() + 60
    while launcher.room(Needs(cpus=1)).free_cpus != min(4, every - 1) and time.monotonic() < until:
        time.sleep(0.1)
    free = launcher.room(Needs(cpus=1)).free_cpus
    launcher.resize(run, Needs(cpus=every))
    state = read_state(bench.ledger / run.partition("/")[0])
    assert state is not None
    has = {len(os.sched_getaffinity(pid)) for pid in marked(state.token) if pid != state.supervisor}
    with pytest.raises(LaunchError, match="only the CPUs of a run can change"):
        launcher.resize(run, Needs(cpus=every, memory_gib=1))
    launcher.cancel(run)
    assert (held, free) == (0, min(4, every - 1))
    assert has == {every}
