"""A config.ini in the terms of frameworks: decided, limited, written, told and undone in them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from user_project import Project

TRAINER = "per_device_train_batch_size = 8\naccumulate_grad_batches = 4\ndevices = 2\nnum_nodes = 2\n"
GLOBAL = "batch_size = 128\ngpus = 4\n"


def in_terms(project: Project, lines: str) -> None:
    """The project's config.ini with these lines instead of its batch size."""
    text = project.config.read_text()
    at = next(line for line in text.splitlines(keepends=True) if line.startswith("batch_size"))
    project.config.write_text(text.replace(at, lines))


def suggested(project: Project, *options: str) -> dict[str, object]:
    answer = project.jpo("suggest", "config.ini", "--no-learn", "-o", "json", *options)
    assert answer.code == 0, answer.err
    document: dict[str, object] = json.loads(answer.out)
    return document


def second_look(project: Project, before: str) -> str:
    command = [sys.executable, "-m", "constraints", before, "config.ini"]
    return subprocess.run(command, cwd=project.folder, capture_output=True, text=True, timeout=120).stdout


def test_the_same_job_gets_the_same_advice_in_either_terms(project: Project) -> None:
    in_global = suggested(project, "--dry-run", "--seed", "1")["suggested"]
    in_terms(project, "per_device_train_batch_size = 4\ngradient_accumulation_steps = 4\n")
    assert suggested(project, "--dry-run", "--seed", "1")["suggested"] == in_global
    assert in_global != {}


@pytest.mark.parametrize(
    ("options", "written", "batch"),
    [
        (["gpus=8"], {"devices = 4", "per_device_train_batch_size = 8"}, 256),
        (["batch_size=256"], {"devices = 2", "per_device_train_batch_size = 16"}, 256),
        (["gpus=8", "batch_size=128"], {"devices = 4", "per_device_train_batch_size = 4"}, 128),
    ],
)
def test_what_is_set_in_all_is_written_in_the_file_s_terms_and_undone(
    empty: Project, options: list[str], written: set[str], batch: int
) -> None:
    in_terms(empty, TRAINER)
    before = empty.config.read_bytes()
    shutil.copy(empty.config, empty.folder / "before.ini")
    document = suggested(empty, *(word for option in options for word in ("--set", option)))
    assert document["suggested"]["batch_size"] == batch  # type: ignore[index]
    assert written < set(empty.config.read_text().splitlines())
    assert second_look(empty, "before.ini").startswith("approved")
    grown = any("stays 8 on each device: the global batch_size becomes 256, from 128" in str(why) for why in document["reasons"])  # type: ignore[attr-defined]
    assert grown == (options == ["gpus=8"]) == ("JPO-I642" in json.dumps(document))
    assert empty.jpo("rollback").code == 0
    assert empty.config.read_bytes() == before


def test_changes_one_after_the_other_are_undone_together(empty: Project) -> None:
    in_terms(empty, TRAINER)
    before = empty.config.read_bytes()
    first = suggested(empty, "--set", "batch_size=256")["suggestion_id"]
    suggested(empty, "--set", "gpus=8")
    answer = empty.jpo("rollback", str(first))
    assert (answer.code, empty.config.read_bytes()) == (0, before), answer.err


@pytest.mark.parametrize(
    ("options", "finding"),
    [
        ("gpus=3", "gpus_per_node = 1.5 is not a whole number"),
        ("batch_size=100", "batch_size_per_device = 6.25 is not a whole number"),
        ("batch_size=1024", "batch_size_per_device = 64 is too far from today's 8"),
        ("batch_size=384", "batch_size_per_device = 24 is above 16"),
    ],
)
def test_what_the_file_cannot_say_or_may_not_is_refused_in_its_terms(empty: Project, options: str, finding: str) -> None:
    in_terms(empty, TRAINER)
    toml = empty.folder / "jpo.toml"
    toml.write_text(toml.read_text().replace("[parameters]\n", "[parameters]\nbatch_size_per_device = { max = 16 }\n"))
    answer = empty.jpo("suggest", "config.ini", "--set", options)
    assert (answer.code, finding in answer.err) == (3, True), answer.err


def test_a_pinned_batch_per_device_stays_while_gpus_change(empty: Project) -> None:
    in_terms(empty, TRAINER.replace("= 8", "= 8 # jpo: pin"))
    assert suggested(empty, "--set", "gpus=8")["suggested"]["batch_size"] == 256  # type: ignore[index]
    answer = empty.jpo("suggest", "config.ini", "--set", "batch_size=512")
    assert (answer.code, "must stay" in answer.err) == (3, True)


@pytest.mark.parametrize(
    ("shares", "in_all"),
    [
        (["batch_size_per_device=16"], ["batch_size=256"]),
        (["gpus_per_node=1"], ["gpus=2"]),
        (["gpus_per_node=1", "batch_size_per_device=16"], ["gpus=2", "batch_size=128"]),
    ],
)
def test_values_are_set_in_the_terms_of_the_file_or_in_all(empty: Project, shares: list[str], in_all: list[str]) -> None:
    """`--set` and `--vary` of either give the same answer: the quantity that JPO decides on is the one in all."""
    in_terms(empty, TRAINER)
    answers = [[word for text in texts for word in ("--set", text)] for texts in (shares, in_all)]
    one, other = (suggested(empty, "--dry-run", *words) for words in answers)
    assert (one["suggested"], one["changes"]) == (other["suggested"], other["changes"])
    one, other = (json.loads(empty.jpo("predict", "config.ini", "-o", "json", *words).out) for words in answers)
    assert one["rows"] == other["rows"]
    assert len(one["rows"]) == 2
    varied = empty.jpo("predict", "config.ini", "-o", "json", "--vary", shares[0], *answers[0][2:])
    assert json.loads(varied.out)["rows"] == one["rows"], varied.err


@pytest.mark.parametrize("command", ["suggest", "predict"])
def test_a_quantity_is_set_in_one_term(empty: Project, command: str) -> None:
    in_terms(empty, TRAINER)
    for name in ("batch_size_per_device=16", "gpus_per_node=1"):
        total = "batch_size=64" if name.startswith("batch") else "gpus=2"
        answer = empty.jpo(command, "config.ini", "--set", name, "--set", total)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
    answer = empty.jpo(command, "config.ini", "--set", "batch_size_per_device=1.5")
    assert (answer.code, "batch_size_per_device = 1.5 is not a whole number" in answer.err) == (2, True)
