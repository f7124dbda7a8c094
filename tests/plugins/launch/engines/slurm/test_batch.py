"""batch.sh alone, as SLURM would start it: one start, no value as shell text, and an end that is written down."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jpo.plugins.launch.engines.slurm import run_files
from jpo.plugins.launch.engines.slurm.launcher import SCRIPT
from jpo.plugins.launch.engines.slurm.run_files import BatchEnd
from jpo.plugins.launch.job import LaunchJob
from jpo.records import Identity

NIGHT = run_files.Submission("night-1", "/srv")
NASTY = ("a b", "$(touch gone)", "`touch gone`", "'\"", "*", "-e", "", "x\ny", "ü", "; touch gone")


def begin(
    folder: Path, command: tuple[str, ...], *, number: int = 7, longest: float | None = None, **more: str
) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    (folder / "runs").mkdir(exist_ok=True)
    environment = {name: value for name, value in more.items() if not name.startswith("SLURM_")}
    job = LaunchJob("night-1", Identity("d", "m", "f"), command, folder, environment, longest_seconds=longest)
    run_files.put(job, folder, NIGHT, 1.0)
    slurm = {name: value for name, value in more.items() if name.startswith("SLURM_")}
    given = {"PATH": os.environ["PATH"], "SLURM_JOB_ID": str(number), "SLURMD_NODENAME": "n1", **slurm}
    pipe = subprocess.PIPE
    return subprocess.Popen(["bash", SCRIPT, folder], env=given, cwd=folder, stdout=pipe, stderr=subprocess.STDOUT, text=True)


def run(folder: Path, *command: str, number: int = 7, longest: float | None = None, **more: str) -> tuple[int, str]:
    process = begin(folder, command, number=number, longest=longest, **more)
    said, _ = process.communicate(timeout=120)
    return process.returncode, said


def end_of(folder: Path) -> BatchEnd:
    found = run_files.ended(folder)
    assert found is not None
    return found


def test_the_exit_code_is_passed_on_and_written_down(tmp_path: Path) -> None:
    assert run(tmp_path, "sh", "-c", "echo hello; exit 3") == (3, "hello\n")
    end = end_of(tmp_path)
    assert (end.number, end.node, end.exit_code, end.ended_by) == ("7", "n1", 3, "")
    assert end.began_at is not None
    assert end.ended_at is not None
    assert 0 <= end.ended_at - end.began_at < 10
    assert end.cpu_seconds is not None


def test_an_exit_code_that_comes_just_when_a_look_at_it_ends_is_not_lost(tmp_path: Path) -> None:
    """bash gives what `read -t` took in before its time was over, and gives it once."""
    jobs = [begin(tmp_path / str(n), ("sleep", f"{0.97 + n / 2000:.4f}")) for n in range(60)]
    for job in jobs:
        job.communicate(timeout=120)
    assert {end_of(tmp_path / str(n)).exit_code for n in range(60)} == {0}


def test_words_and_values_are_never_read_by_a_shell(tmp_path: Path) -> None:
    program = "import os, sys; print([*sys.argv[1:], os.environ['VALUE'], os.environ['IFS']])"
    code, said = run(tmp_path, sys.executable, "-c", program, *NASTY, VALUE="\n".join(NASTY), IFS="abc/")
    assert (code, said) == (0, f"{[*NASTY, chr(10).join(NASTY), 'abc/']}\n")
    assert not list(tmp_path.rglob("gone"))


def ended_into(output: int, folder: Path, *command: str) -> None:
    """Run it as SLURM does, which holds the output file open."""
    (folder / "runs").mkdir(exist_ok=True)
    run_files.put(LaunchJob("night-1", Identity("d", "m", "f"), command, folder), folder, NIGHT, 1.0)
    given = {"PATH": os.environ["PATH"], "SLURM_JOB_ID": "7", "SLURMD_NODENAME": "n1"}
    subprocess.run(["bash", SCRIPT, folder], env=given, stdout=output, stderr=subprocess.STDOUT, timeout=120, check=False)


def test_of_endless_output_the_end_is_kept_and_what_came_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_files, "MOST_BYTES", 2**20)
    output = os.open(tmp_path / "output.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    ended_into(output, tmp_path, "sh", "-c", "seq 1 600000; echo last")
    os.write(output, b"SLURM's own word\n")
    os.close(output)
    newest, older = ((tmp_path / name).read_bytes() for name in ("output.log", "output.log.1"))
    assert len(older) == 2**20
    assert 0 < len(newest) <= 2**20
    assert (older + newest).endswith(b"599999\n600000\nlast\nSLURM's own word\n")
    numbers = [int(line) for line in (older + newest).splitlines()[1:-2]]
    assert numbers == list(range(numbers[0], 600001))
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("output.log", "output.log.1")} == {0o600}


def test_on_a_full_disk_the_command_goes_on_and_what_it_prints_is_lost(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        ended_into(full.fileno(), tmp_path, "sh", "-c", "seq 1 600000 && exit 4")
    assert end_of(tmp_path).exit_code == 4


def test_what_leaves_the_session_of_the_command_ends_with_it(tmp_path: Path) -> None:
    leaves = (
        "import os, signal, time; signal.signal(15, signal.SIG_IGN); os.setsid(); print(os.getpid()); os.close(w); time.sleep(60)"
    )
    program = f"import os\nr, w = os.pipe()\nif os.fork() == 0:\n    {leaves}\nos.close(w)\nos.read(r, 1)"
    code, said = run(tmp_path, sys.executable, "-u", "-c", program)
    assert code == 0
    deadline = time.monotonic() + 60
    while Path(f"/proc/{int(said)}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_what_leaves_with_the_output_open_is_not_waited_for(tmp_path: Path) -> None:
    with Path("/dev/null").open("wb") as nowhere:
        began = time.monotonic()
        ended_into(nowhere.fileno(), tmp_path, "sh", "-c", "env --ignore-environment setsid sleep 30 & sleep 0.5")
    assert time.monotonic() - began < 25
    assert end_of(tmp_path).exit_code == 0


def test_a_second_job_does_not_start_the_run_again(tmp_path: Path) -> None:
    run(tmp_path, "sh", "-c", "echo once >>count")
    first = end_of(tmp_path)
    code, said = run(tmp_path, "sh", "-c", "echo once >>count", number=8)
    assert code == 75
    assert "not started twice (job 8)" in said
    assert (tmp_path / "count").read_text() == "once\n"
    assert end_of(tmp_path) == first


def test_of_many_jobs_at_once_one_runs_it(tmp_path: Path) -> None:
    jobs = [begin(tmp_path, ("sh", "-c", "echo once >>count"), number=number) for number in range(1, 13)]
    codes = [job.wait(timeout=120) for job in jobs]
    for job in jobs:
        job.communicate()
    assert sorted(codes) == [0] + [75] * 11
    assert (tmp_path / "count").read_text() == "once\n"


def test_a_folder_that_is_not_there_on_the_node_is_said(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", SCRIPT, tmp_path / "elsewhere"],
        env={"SLURM_JOB_ID": "7", "PATH": os.environ["PATH"]},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 73
    assert b"shared with the nodes?" in done.stderr


def test_a_command_that_is_not_there_fails_as_in_a_shell(tmp_path: Path) -> None:
    code, said = run(tmp_path, "no-such-program")
    assert code == 127
    assert "not found" in said
    assert end_of(tmp_path).exit_code == 127


def test_a_run_beyond_its_time_may_write_its_last_words(tmp_path: Path) -> None:
    code, said = run(tmp_path, "sh", "-c", "trap 'echo stopped; exit 5' TERM; while :; do sleep 0.1; done", longest=0.5)
    assert code == 5
    assert said.endswith("stopped\n")
    assert end_of(tmp_path).ended_by == "longest_seconds"


def test_seconds_that_are_inherited_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    job = LaunchJob("night-1", Identity("d", "m", "f"), ("sleep", "0.5"), tmp_path, longest_seconds=60.0)
    run_files.put(job, tmp_path, NIGHT, 1.0)
    told = {"PATH": os.environ["PATH"], "SLURM_JOB_ID": "7", "SECONDS": "99999"}
    assert subprocess.run(["bash", SCRIPT, tmp_path], env=told, check=False).returncode == 0


def test_a_run_is_ended_where_slurm_has_lost_it(tmp_path: Path) -> None:
    job = begin(tmp_path, ("sh", "-c", "echo begun; exec sleep 120"))
    assert job.stdout is not None
    assert job.stdout.readline() == "begun\n"
    run_files.ask_to_end(tmp_path)
    job.communicate(timeout=120)
    end = end_of(tmp_path)
    assert (end.exit_code, end.ended_by) == (143, "jpo")


def test_whoever_ignores_sigterm_is_killed_and_nothing_of_it_is_left(tmp_path: Path) -> None:
    code, said = run(tmp_path, "sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.1; done", longest=0.5)
    assert code == 128 + signal.SIGKILL
    assert said.strip().isdigit()  # the shell's own word "Killed", with the text of the script, is not in it
    assert not Path("/proc", said.strip()).exists()


def test_children_that_are_left_behind_are_ended(tmp_path: Path) -> None:
    code, said = run(tmp_path, "sh", "-c", "sleep 300 & echo $!")
    assert code == 0
    stat = Path("/proc", said.strip(), "stat")
    for _ in range(600):
        if not stat.exists() or ") Z " in stat.read_text():
            break
        time.sleep(0.1)
    else:
        raise AssertionError(stat.read_text())


def test_the_soft_stop_of_slurm_reaches_the_command(tmp_path: Path) -> None:
    job = begin(tmp_path, ("sh", "-c", "trap 'echo stopped; exit 0' TERM; echo begun; while :; do sleep 0.1; done"))
    assert job.stdout is not None
    assert job.stdout.readline() == "begun\n"
    job.send_signal(signal.SIGUSR1)
    assert job.communicate(timeout=120)[0].endswith("stopped\n")
    assert end_of(tmp_path).ended_by == "limit_of_slurm"


def test_sigterm_to_all_as_scancel_sends_it_is_noted(tmp_path: Path) -> None:
    job = begin(tmp_path, ("sh", "-c", "trap 'exit 143' TERM; echo $$; while :; do sleep 0.1; done"))
    assert job.stdout is not None
    command = int(job.stdout.readline())
    job.send_signal(signal.SIGTERM)
    os.kill(command, signal.SIGTERM)
    job.communicate(timeout=120)
    end = end_of(tmp_path)
    assert (end.exit_code, end.ended_by) == (143, "slurm")


def test_on_a_full_disk_the_command_runs_and_its_exit_code_is_still_known_to_slurm(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    run_files.put(LaunchJob("night-1", Identity("d", "m", "f"), ("sh", "-c", "exit 3"), folder), folder, NIGHT, 1.0)
    done = subprocess.run(
        ["bash", SCRIPT, folder],
        env={"SLURM_JOB_ID": "7", "PATH": os.environ["PATH"]},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),  # writing fails as on a full disk
        restore_signals=False,  # Python ignores SIGXFSZ
        check=False,
    )
    assert done.returncode == 3
    assert run_files.ended(folder) is None
    assert sorted(file.name for file in (folder / "slurm").iterdir()) == ["began", "command", "environment", "limits", "name"]


def test_each_task_of_an_array_has_its_own_run(tmp_path: Path) -> None:
    folders = [tmp_path / "first", tmp_path / "second run"]
    for folder in folders:
        folder.mkdir()
        job = LaunchJob(folder.name.replace(" ", "-"), Identity("d", "m", "f"), ("sh", "-c", "echo $JPO_RUN_ID"), tmp_path)
        run_files.put(job, folder, NIGHT, 1.0)
    task = {"SLURM_JOB_ID": "8", "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "1", "PATH": os.environ["PATH"]}
    subprocess.run(["bash", SCRIPT, *folders], env=task, check=True)
    assert (folders[1] / "output.log").read_text() == "second-run\n"
    assert end_of(folders[1]).number == "7_1"
    assert run_files.began(folders[0]) is None
