"""What the machine has on which JPO runs: listed by doctor, and a limit only where [quota] this_machine says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from user_project import Project

TWO = """\
0, GPU-5c5c4d3f-1e23-5b0e-8c7e-2b9a1f0e7d11, 16160, 10412, 97, Tesla V100-SXM2-16GB
1, GPU-0d4b1a9c-77aa-4c8e-9e3f-9b1c2d3e4f50, 16160, 0, 0, Tesla V100-SXM2-16GB"""
LIMITED = '\n[quota]\nthis_machine = true\n[parameters.gpus]\nkey = "resources.gpus"\nmin = 0\n'


@pytest.fixture
def with_gpus(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A job on 2 GPUs, and a machine that has two."""
    answers_with(project, monkeypatch, f"cat <<'EOF'\n{TWO}\nEOF")
    project.config.write_text(project.config.read_text().replace("cpus = 2", "cpus = 1\ngpus = 2"))
    return project


def answers_with(project: Project, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program in nvidia-smi's place."""
    program = project.folder / "bin" / "nvidia-smi"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def limit(project: Project) -> None:
    with Path("jpo.toml").open("a") as file:
        file.write(LIMITED)


def diagnosis(project: Project) -> tuple[int, dict[str, Any]]:
    answer = project.jpo("doctor", "-o", "json")
    return answer.code, {check["name"]: check for check in json.loads(answer.out)["checks"]}


def ask_for(project: Project, gpus: int) -> None:
    project.config.write_text(project.config.read_text().replace("gpus = 2", f"gpus = {gpus}"))


def test_gpus_are_listed_with_type_memory_and_work(with_gpus: Project) -> None:
    code, found = diagnosis(with_gpus)
    assert (code, found["GPUs"]["finding"]) == (0, "2 × Tesla V100-SXM2-16GB (v100, 15.8 GiB); utilisation now: 97%, 0%")
    assert (found["CPUs"]["status"], found["memory"]["finding"].split()[1]) == ("ok", "GiB")


def test_what_is_hidden_from_cuda_is_not_there(with_gpus: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    told = "1 × Tesla V100-SXM2-16GB (v100, 15.8 GiB); CUDA_VISIBLE_DEVICES=1; utilisation now: 0%"
    assert diagnosis(with_gpus)[1]["GPUs"]["finding"] == told


def test_without_this_machine_nothing_here_limits_a_job(with_gpus: Project) -> None:
    ask_for(with_gpus, 16)
    code, found = diagnosis(with_gpus)
    assert (code, found["room"]["status"]) == (0, "ok")
    assert found["room"]["finding"].endswith("config.ini asks for more (gpus 16 > 2)")
    assert with_gpus.jpo("suggest", "config.ini", "--set", "gpus=8").code == 0


def test_with_it_more_than_there_is_is_a_warning_and_a_broken_limit(with_gpus: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(with_gpus)
    assert diagnosis(with_gpus)[1]["room"]["status"] == "ok"
    ask_for(with_gpus, 8)
    monkeypatch.setenv("GITLAB_CI", "true")
    code, found = diagnosis(with_gpus)
    assert (code, found["limits"]["code"], found["room"]["code"]) == (0, "JPO-W403", "JPO-W861")
    assert "gpus = 8 is above the 2 that this machine has" in found["limits"]["finding"]
    assert "this is a CI runner (gitlab)" in found["room"]["next_step"]


def test_with_it_no_suggestion_asks_for_more(with_gpus: Project) -> None:
    limit(with_gpus)
    answer = with_gpus.jpo("suggest", "config.ini", "--set", "gpus=4")
    assert (answer.code, "gpus = 4 is above the 2 that this machine has" in answer.err) == (3, True)
    assert with_gpus.jpo("suggest", "config.ini", "--set", "gpus=1").code == 0


def test_where_gpus_are_unknown_they_are_not_limited_and_doctor_says_so(
    with_gpus: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(with_gpus)
    answers_with(with_gpus, monkeypatch, "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18")
    code, found = diagnosis(with_gpus)
    assert (code, found["GPUs"]["status"], found["GPUs"]["code"]) == (0, "warning", "JPO-W862")
    assert "exit code 18, Failed to initialize NVML: Driver/library version mismatch" in found["GPUs"]["finding"]
    assert with_gpus.jpo("suggest", "config.ini", "--set", "gpus=4").code == 0


def test_idle_gpus_of_the_newest_run_are_named_by_doctor_and_suggest(with_gpus: Project) -> None:
    for number, busy in ((7, 0.7), (8, 0.01)):
        log = with_gpus.log(number, 16, 300.0)
        log.write_text(log.read_text().replace("# cpus=2", "# cpus=1\n# gpus=2"))
        run = ("observe", f"run-{number}", "--metric", f"gpu_utilisation={busy}", "--metric", "gpu_memory_gib=0.01")
        assert [with_gpus.jpo(*command).code for command in (["observe"], run)] == [0, 0]
        if number == 7:
            assert diagnosis(with_gpus)[1]["GPUs at work"]["finding"] == "GPU utilisation 70% (median of the last 1 run)"
    code, found = diagnosis(with_gpus)
    assert (code, found["GPUs at work"]["status"], found["GPUs at work"]["code"]) == (0, "warning", "JPO-W863")
    assert found["GPUs at work"]["finding"].startswith("2 GPUs of run run-8: never touched")
    assert found["GPUs at work"]["finding"].endswith("(idle in 1 of the last 2 runs)")
    report = json.loads(with_gpus.jpo("suggest", "config.ini", "--dry-run", "-o", "json").out)
    assert "JPO-W863" in report["reason_codes"]
