"""What the tests of both pipelines share: a checked-out repository, the tools of the image, a Prometheus that says no."""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The quickstart in a Git repository of its own, everything committed."""
    folder = tmp_path / "repository"
    shutil.copytree(ROOT / "examples" / "quickstart", folder, ignore=shutil.ignore_patterns(".jpo"))
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "job"]):
        subprocess.run([*git, *command], cwd=folder, check=True)
    return folder


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A bin folder with `jpo` and `python` of this checkout, as the image or the runner's environment would have them."""
    folder = tmp_path / "jpo" / "bin"
    folder.mkdir(parents=True)
    for name, arguments in (("jpo", "-P -m jpo "), ("python", "")):
        (folder / name).write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" {arguments}"$@"\n')
        (folder / name).chmod(0o755)
    return folder


@dataclass
class Machine:
    """Runs a script as a CI runner does: its own environment, in the checked-out repository."""

    repository: Path
    environment: Mapping[str, str]
    tools: Path

    def run(self, shell: list[str], script: str, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **variables}
        return subprocess.run([*shell, script], cwd=self.repository, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def machine(repository: Path, tools: Path, tmp_path: Path) -> Machine:
    path = f"{tools}{os.pathsep}/usr/local/bin:/usr/bin:/bin"
    environment = {"PATH": path, "HOME": str(tmp_path), "CI": "true", "LC_ALL": "C.UTF-8"}
    return Machine(repository, {**environment, "JPO_AGENT__LEARN_BUDGET": "0"}, tools)  # nothing is learnt, as in the slim image


@pytest.fixture
def two_steps_in_force(machine: Machine) -> bytes:
    """The committed config.ini, from which the values in force are further away than one step may lead."""
    config, settings = machine.repository / "config.ini", machine.repository / "jpo.toml"
    committed = config.read_bytes()
    settings.write_text(settings.read_text().replace("max_change = 8.0", "max_change = 2.0"))
    for value in (32, 64):
        done = machine.run(["sh", "-ec"], f"jpo suggest --offline --set batch_size={value}", {"GITLAB_CI": "true"})
        assert done.returncode == 0, done.stderr
        config.write_bytes(committed)
    return committed


@pytest.fixture
def split_settings(machine: Machine) -> bytes:
    """Settings in two files, and a config.ini that takes too large a step by the lower one alone."""
    (machine.repository / "pyproject.toml").write_text("[tool.jpo.parameters.learning_rate]\nmax_change = 1.5\n")
    config = (machine.repository / "config.ini").read_bytes()
    return config.replace(b"= 0.003 ", b"= 0.006 ")


@dataclass
class Refusal:
    """A Prometheus that answers 401 to everything, and what it received."""

    url: str
    authorizations: list[str | None] = field(default_factory=list)


@pytest.fixture
def refusing_prometheus() -> Iterator[Refusal]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            refusal.authorizations.append(self.headers["Authorization"])
            self.send_error(401)

        do_POST = do_GET  # noqa: N815 - the name http.server looks for

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    refusal = Refusal(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever).start()
    yield refusal
    server.shutdown()
    server.server_close()
