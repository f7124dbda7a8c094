"""`jpo check`: what it says of batch size, GPUs, CPUs and prices together."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from user_project import Project


def checked(project: Project, resources: str, prices: str = "usd_per_gpu_hour = 2\n") -> tuple[int, str]:
    """Exit code and words of a check with these resources."""
    project.config.write_text(project.config.read_text().replace("cpus = 2", resources))
    with (project.folder / "jpo.toml").open("a") as file:
        file.write(prices)
    answer = project.jpo("check", "config.ini")
    return answer.code, answer.out + answer.err


def test_the_batch_of_each_gpu_is_shown(empty: Project) -> None:
    code, told = checked(empty, "cpus = 8\ngpus = 4")
    assert (code, "batch_size counts over all GPUs: 4 samples on each of 4\n" in told) == (0, True)
    assert "[JPO-" not in told


@pytest.mark.parametrize(("gpus", "batch"), [(3, 16), (32, 16)])
def test_a_batch_that_cannot_be_shared_evenly_is_a_warning(empty: Project, gpus: int, batch: int) -> None:
    code, told = checked(empty, f"cpus = 64\ngpus = {gpus}")
    finding = f"batch_size = {batch} cannot be divided evenly among gpus = {gpus}; suggest leaves"
    assert (code, finding in told, "[JPO-W403]" in told) == (0, True, True)


@pytest.mark.parametrize(
    ("resources", "prices", "code"),
    [
        ("cpus = 2\ngpus = 4", "usd_per_gpu_hour = 2\n", "JPO-W869"),
        ("cpus = 8\ngpus = 4", "", "JPO-I861"),
        ("cpus = 8\ngpus = 0", "usd_per_gpu_hour = 2\n", "JPO-I862"),
    ],
)
def test_what_goes_badly_together_is_reported_and_not_forbidden(empty: Project, resources: str, prices: str, code: str) -> None:
    ended, told = checked(empty, resources, prices)
    assert (ended, told.count("[JPO-"), f"[{code}]" in told) == (0, 1, True)


def test_a_job_without_gpus_gets_no_remark(empty: Project) -> None:
    code, told = checked(empty, "cpus = 1")
    assert (code, "GPU" in told) == (0, False)


@pytest.mark.parametrize("command", [("check", "config.ini"), ("doctor",)])
def test_a_quota_on_the_price_counts_by_a_catalogue_too(empty: Project, command: tuple[str, ...]) -> None:
    toml = empty.folder / "jpo.toml"
    toml.write_text(toml.read_text().replace("usd_per_cpu_hour = 0.04", 'catalogue = "aws"') + "[quota]\nusd_per_hour = 0.01\n")
    answer = empty.jpo(*command)
    assert "USD per hour; the quota is 0.01" in answer.out + answer.err
    assert (answer.code, "JPO-W403" in answer.out + answer.err) == (0, True)


def test_check_says_what_it_understood(project: Project) -> None:
    out = project.jpo("check", "config.ini").out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "config.ini: workload digits/cnn/pytorch"
    assert "7 training.batch_size 16 batch_size 16" in lines
    assert "9 training.epochs 40 epochs 40, frozen in jpo.toml" in lines


def test_check_names_a_limit_that_is_broken_today(project: Project) -> None:
    project.config.write_text(project.config.read_text().replace("learning_rate = 0.01", "learning_rate = 500"))
    answer = project.jpo("check", "config.ini")
    assert answer.code == 0
    assert "learning_rate = 500 is above 100" in answer.out
    assert "valid; 22 of 23 rules kept" in answer.out


@pytest.mark.parametrize(("rate", "beyond"), [("2e-5", False), ("12.8", False), ("500", True)])
def test_check_suggest_and_the_guard_give_one_answer(project: Project, rate: str, *, beyond: bool) -> None:
    project.config.write_text(project.config.read_text().replace("learning_rate = 0.01", f"learning_rate = {rate}"))
    answers = [project.jpo(*words) for words in (("check", "config.ini"), ("suggest", "config.ini", "--dry-run"))]
    guard = [sys.executable, "-m", "constraints", "config.ini", "config.ini"]
    seen = subprocess.run(guard, cwd=project.folder, capture_output=True, text=True, timeout=120)
    assert [*(answer.code for answer in answers), seen.returncode] == [0, 0, 0]
    said = f"learning_rate = {float(rate):g} is "
    assert [said in text for text in (answers[0].out, answers[1].out, seen.stdout)] == [beyond] * 3


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("gpus = 4", "batch_size counts over all GPUs: 4 samples on each of 4\n"),
        (
            "gpus = 4\naccum_steps = 2",
            "batch_size counts over all GPUs and accumulation steps: 2 samples on each of 4, 2 times before the weights change\n",
        ),
        ("gpus = 1", None),
    ],
)
def test_how_many_samples_are_on_each_device(empty: Project, lines: str, sentence: str | None) -> None:
    code, told = checked(empty, f"cpus = 8\n{lines}")
    assert (code, "samples on each" in told) == (0, sentence is not None)
    assert sentence is None or " ".join(sentence.split()) in " ".join(told.split())


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("gpus = 4", "16 samples on each of 4: batch_size 64 in all"),
        (
            "devices = 2\nnum_nodes = 2\naccum_steps = 3",
            "16 samples on each of 4 (2 nodes), 3 times before the weights change: batch_size 192 in all",
        ),
        ("gpus = 0", "16 samples on one device: batch_size 16 in all"),
        ("", "16 samples on one device: batch_size 16 in all; the file does not say how many devices"),
    ],
)
def test_a_batch_per_device_is_told_in_all(empty: Project, lines: str, sentence: str) -> None:
    empty.config.write_text(empty.config.read_text().replace("batch_size = 16", "per_device_train_batch_size = 16"))
    code, told = checked(empty, f"cpus = 8\n{lines}")
    assert (code, f"the batch is given per device: {sentence}" in " ".join(told.split())) == (0, True)


def test_a_count_that_is_none_is_named(empty: Project) -> None:
    code, told = checked(empty, "cpus = 2\naccumulation_steps = auto")
    finding = "resources.accumulation_steps = auto (line 13) is not a whole number of at least 1, so JPO takes it as 1"
    assert (code, finding in " ".join(told.split())) == (0, True)


def test_what_looks_like_a_parameter_is_listed_with_the_line_to_add(empty: Project) -> None:
    code, told = checked(empty, "cpus = 2\nvram_mem = 8\nnum_gpu = 4\nval_batch_size = 3\nseed = 1\ngpu_model = a100")
    said = " ".join(told.split())
    assert code == 0
    assert 'num_gpu = 4 (line 14) is not recognised; if it is gpus, add [parameters] gpus = { key = "resources.num_gpu" }' in said
    assert said.count("[JPO-I213]") == told.count("is not recognised")
    assert not any(name in said for name in ("val_batch", "seed", "gpu_model"))


def test_another_name_of_the_file_is_told_before_anything_is_written(project: Project) -> None:
    (project.folder / "other.ini").hardlink_to(project.config)
    out = " ".join(project.jpo("check", "config.ini").out.split())
    assert "config.ini has 2 names (hard links): a change is seen under this one alone" in out
    assert "[JPO-W224]" in out


def test_a_job_that_no_gpu_can_hold_is_warned_of_until_a_run_has_ended_well(empty: Project) -> None:
    llama, large = "meta-llama/Llama-2-7b-hf", "max_length = 2048\nprecision = bf16-mixed\nepochs = 40"
    empty.config.write_text(empty.config.read_text().replace("cnn", llama).replace("epochs = 40", large))
    with (empty.folder / "jpo.toml").open("a") as file:
        file.write('gpu_type = "a100-40gb"\n')
    told = [empty.jpo(*words.split()) for words in ("check", "predict", "suggest --dry-run")]
    assert [(answer.code, "which has 40, and will not fit" in " ".join(answer.out.split())) for answer in told] == [(0, True)] * 3
    assert "[JPO-W871]" in told[0].out
    log = empty.log(1, 16, 60.0)
    log.write_text(log.read_text().replace("cnn", llama))
    told = [empty.jpo(*words.split()) for words in ("suggest", "check", "predict")]
    assert [(answer.code, "which has 40" in answer.out) for answer in told] == [(0, False)] * 3
