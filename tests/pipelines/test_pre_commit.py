"""The hooks of .pre-commit-hooks.yaml: valid to pre-commit, and run as it runs them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


def guard(repository: Path, *names: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / HOOKS["jpo-guard"]["entry"]), *names]
    return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)


def test_pre_commit_understands_them() -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib")
    assert [hook["id"] for hook in clientlib.load_manifest(ROOT / ".pre-commit-hooks.yaml")] == ["jpo-check", "jpo-guard"]


@pytest.mark.parametrize(("file", "hooks"), [("config.ini", 2), ("a/b/config.ini", 2), ("jpo.toml", 1), ("my-config.ini", 0)])
def test_they_run_for_the_files_that_they_are_about(file: str, hooks: int) -> None:
    assert sum(bool(re.search(hook["files"], file)) for hook in HOOKS.values()) == hooks


def test_the_guard_compares_with_the_committed_file(repository: Path) -> None:
    config = repository / "config.ini"
    assert guard(repository, "config.ini").returncode == 0
    config.write_text(re.sub(r"(batch_size +=) \d+", r"\1 1048576", config.read_text()))
    done = guard(repository, "config.ini")
    assert (done.returncode, done.stdout.partition(":")[0]) == (1, "rejected")


def test_the_guard_goes_by_the_limits_of_all_files_that_jpo_reads(repository: Path, split_settings: bytes) -> None:
    (repository / "config.ini").write_bytes(split_settings)
    assert guard(repository, "config.ini").returncode == 1
    (repository / "pyproject.toml").unlink()
    assert guard(repository, "config.ini").returncode == 0


def test_a_new_file_has_nothing_to_be_compared_with(repository: Path) -> None:
    (repository / "new").mkdir()
    (repository / "new" / "config.ini").write_text("[t]\nbatch_size = 1048576\n")
    assert guard(repository, "new/config.ini").returncode == 0


def test_check_is_a_command(machine: object, repository: Path, tools: Path) -> None:
    assert HOOKS["jpo-check"]["entry"] == "jpo check"
    done = subprocess.run([tools / "jpo", "check"], cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
