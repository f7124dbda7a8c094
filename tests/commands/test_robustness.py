"""What happens at 3 a.m.: killed, twice at once, disk full, folder read-only. Files are old or new, and whole."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from user_project import Project

SUGGEST = [sys.executable, "-m", "jpo", "suggest", "config.ini", "--explore", "off", "--no-learn"]
"""Exploring nothing, the answer is batch size 64, whatever the shipped policy likes."""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def start(project: Project, command: Sequence[str] = SUGGEST) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, cwd=project.folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_killed_at_any_instant_config_ini_is_old_or_new_and_the_chain_holds(project: Project) -> None:
    old = project.config.read_bytes()
    new = old.replace(b"batch_size = 16 ", b"batch_size = 64 ")
    chance = random.Random(7)
    assert project.jpo("observe").code == 0  # on a slow machine the first ones are killed before there is a log to verify
    for _ in range(12):
        project.config.write_bytes(old)
        process = start(project)
        time.sleep(chance.uniform(0.2, 1.0))
        process.kill()
        process.communicate()
        assert project.config.read_bytes() in (old, new)
        assert project.jpo("audit", "verify").code == 0
    project.config.write_bytes(old)
    assert project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn").code == 0
    assert project.config.read_bytes() == new
    assert not list(project.folder.glob(".jpo-write-*"))


@pytest.mark.parametrize("command", [SUGGEST, SUGGEST[:-1]], ids=["without learning", "with learning"])
def test_two_at_once_both_end_cleanly_and_nothing_is_lost(project: Project, command: list[str]) -> None:
    processes = [start(project, command) for _ in range(2)]
    ends = [(process.communicate(timeout=180), process.returncode) for process in processes]
    assert {code for _, code in ends} == {0}, ends
    assert "batch_size = 64 " in project.config.read_text()
    assert project.jpo("audit", "verify").code == 0
    known = json.loads(project.jpo("history", "--format", "json").out)
    assert len(known["runs"]) == 7
    kinds = [json.loads(line)["kind"] for line in project.jpo("audit", "show", "-o", "json").out.splitlines()]
    suggested, kept, written, conflict = (kinds.count(kind) for kind in ("suggested", "kept", "written", "conflict"))
    assert (suggested + kept, len(known["suggestions"])) == (2 + conflict, 2), "whoever lost made another one"
    # Who finds the other's values in force keeps them, and writes them where its checkout does not show them yet.
    assert suggested <= written + conflict <= 2


def test_full_disk_leaves_config_ini_alone_and_says_so(project: Project) -> None:
    before = project.config.read_bytes()
    process = subprocess.run(
        SUGGEST,
        cwd=project.folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
        check=False,
    )
    assert (process.returncode, project.config.read_bytes()) == (5, before), process.stderr
    assert process.stderr.startswith("jpo: ")
    assert process.stderr.count("\n") == 1


def test_read_only_folder_leaves_config_ini_alone_and_says_so(project: Project) -> None:
    before = project.config.read_bytes()
    project.jpo("suggest", "config.ini", "--dry-run")
    project.folder.chmod(0o555)
    without_root_power = ["setpriv", "--bounding-set=-dac_override,-fowner"] if os.geteuid() == 0 else []
    if without_root_power and shutil.which("setpriv") is None:
        pytest.skip("setpriv not found: apt-get install util-linux")
    process = start(project, [*without_root_power, *SUGGEST])
    _, error = process.communicate()
    project.folder.chmod(0o755)
    assert (process.returncode, project.config.read_bytes()) == (5, before), error
    assert error.count("\n") == 1


def test_read_only_config_folder_with_the_store_elsewhere_ends_with_6(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = project.config.read_bytes()
    elsewhere = f"JPO_STORE__URL=sqlite:///{tmp_path_factory.mktemp('store')}/jpo.db"
    project.folder.chmod(0o555)
    without_root_power = ["setpriv", "--bounding-set=-dac_override,-fowner"] if os.geteuid() == 0 else []
    process = start(project, ["env", elsewhere, *without_root_power, *SUGGEST])
    _, error = process.communicate()
    project.folder.chmod(0o755)
    assert (process.returncode, project.config.read_bytes()) == (6, before), error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("dies_at", "new"),
    [
        ("jpo.history.store.Store.append", False),
        ("jpo.config.write", False),
        ("os.fsync", False),
        ("os.replace", False),
        ("jpo.history.store.Store.audit", True),
    ],
)
def test_killed_at_each_step_of_the_write_nothing_is_half_done(project: Project, dies_at: str, new: bool) -> None:
    old = project.config.read_bytes()
    module, _, name = dies_at.rpartition(".")
    code = (
        "import os, pkgutil, sys\n"
        "import jpo.config, jpo.history.store\n"
        "from jpo.__main__ import run\n"
        "run(['observe'])\n"
        f"setattr(pkgutil.resolve_name({module!r}), {name!r}, lambda *_, **__: os._exit(9))\n"
        "sys.exit(run(['suggest', 'config.ini', '--explore', 'off', '--no-learn']))\n"
    )
    died = subprocess.run([sys.executable, "-c", code], cwd=project.folder, env=ENVIRONMENT, capture_output=True, check=False)
    assert died.returncode == 9, died.stderr
    expected = old.replace(b"batch_size = 16 ", b"batch_size = 64 ") if new else old
    assert project.config.read_bytes() == expected
    assert project.jpo("audit", "verify").code == 0
    assert project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn").code == 0
    assert b"batch_size = 64 " in project.config.read_bytes()
    assert not list(project.folder.glob(".jpo-write-*"))
