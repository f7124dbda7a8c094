"""Learning in pipelines: the templates with and without torch, the scheduled jobs, and where torch comes from."""

from __future__ import annotations

import base64
import functools
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from pipelines.test_github import ACTION, FOLDER, LEARN, run_step
from pipelines.test_gitlab import jobs, run_job, schema_check, with_inputs

from jpo.history import open_store
from jpo.learning.serving import AGENT

ROOT = Path(__file__).parents[2]
HEADER, JOBS = yaml.safe_load_all((ROOT / "pipelines/gitlab/templates/learn.yml").read_text("utf-8"))
BRIEF = {"JPO_AGENT__LEARN_BUDGET": "4s"}
COUNTED_STEPS = """
import itertools, time, types
import jpo.learning.deadline, jpo.learning.forks, jpo.learning.scenarios
jpo.learning.deadline.time = types.SimpleNamespace(monotonic=itertools.count(time.monotonic()).__next__)
jpo.learning.scenarios.RUNS, jpo.learning.forks.AHEAD = 4, 1
"""
"""Each question whether the time is up takes a second, however fast the machine is: a budget is a number of steps, and they are
short ones."""
LEFT_OUT_OF_IMAGE = {
    "full": r"(jpo|__editable__)|.*\.pth$",
    "slim": r"(torch|functorch|jpo|__editable__)|.*\.pth$",
}
Pythons = dict[str, Path]


def learn_job(**given: Any) -> dict[str, Any]:
    """The job of a pipeline that includes the component `learn` with these inputs."""
    defaults = {name: spec["default"] for name, spec in HEADER["spec"]["inputs"].items() if "default" in spec}
    ((_, job),) = with_inputs(JOBS, {**defaults, "image": "jpo", **given}).items()
    return dict(job)


@pytest.fixture(scope="session")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> Pythons:
    """By the image's name, Python of an environment like this one; the slim image's lacks torch."""
    return {name: python_in(tmp_path_factory.mktemp(name), without) for name, without in LEFT_OUT_OF_IMAGE.items()}


def python_in(folder: Path, without: str) -> Path:
    """Python of a new environment with these packages but for some, in which budgets of learning count steps."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    (folder / "packages").mkdir()
    for package in (each for place in sys.path if place.endswith("-packages") for each in Path(place).iterdir()):
        here = folder / "packages" / package.name
        if not re.match(without, package.name) and not here.is_symlink():
            here.symlink_to(package)
    (folder / "packages" / "counted_steps.py").write_text(COUNTED_STEPS)
    (place,) = (folder / "venv" / "lib").glob("python3*/site-packages")
    (place / "here.pth").write_text(f"{ROOT}\n{folder / 'packages'}\nimport counted_steps\n")
    return folder / "venv" / "bin" / "python"


def with_image(machine: Any, python: Path) -> Any:
    """The machine with an image's Python and a store outside the repository; it learns as long as the settings let it."""
    (machine.tools / "python").write_text(f'#!/bin/sh\nexec "{python}" "$@"\n')
    kept = {name: value for name, value in machine.environment.items() if name != "JPO_AGENT__LEARN_BUDGET"}
    return replace(machine, environment={**kept, "JPO_STORE__URL": f"sqlite:///{machine.repository.parent}/history.db"})


@pytest.fixture(params=["full", "slim"])
def image(request: pytest.FixtureRequest, machine: Any, pythons: Pythons) -> tuple[str, Any]:
    """A machine with the image of this name."""
    if request.param == "full":
        pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    return request.param, with_image(machine, pythons[request.param])


def learns(machine: Any) -> bool:
    with open_store(machine.environment["JPO_STORE__URL"]) as store:
        return store.load_agent(AGENT) is not None


def codes_of(report: Path) -> list[str]:
    document = json.loads((report / "suggestion.json").read_text())
    return [code for code in document["reason_codes"] if code == "JPO-W650"]


@pytest.mark.slow
def test_on_gitlab_the_full_image_learns_and_the_slim_one_says_that_nobody_does(image: tuple[str, Any]) -> None:
    name, machine = image
    done = run_job(machine, jobs()["jpo-suggest"], **BRIEF)
    report = machine.repository / "jpo-report"
    assert (done.returncode, learns(machine)) == (0, name == "full"), done.stderr
    assert codes_of(report) == ([] if name == "full" else ["JPO-W650"])
    assert ("learning is off because torch is not installed" in (report / "summary.md").read_text()) == (name == "slim")


@pytest.mark.slow
def test_on_github_the_action_learns_with_torch_and_says_that_nobody_does_without(image: tuple[str, Any], tmp_path: Path) -> None:
    name, machine = image
    machine = replace(machine, environment={**machine.environment, **BRIEF})
    done = run_step(machine, tmp_path, ACTION, "Suggest")
    assert (done.returncode, learns(machine)) == (0, name == "full"), done.stderr
    assert codes_of(tmp_path / "jpo-report") == ([] if name == "full" else ["JPO-W650"])


@pytest.mark.slow
def test_where_learning_is_turned_off_on_purpose_nothing_is_learnt_and_nothing_said(
    image: tuple[str, Any], tmp_path: Path
) -> None:
    _, machine = image
    before = (machine.repository / "config.ini").read_bytes()
    assert run_job(machine, jobs(learn=False)["jpo-suggest"]).returncode == 0
    assert (codes_of(machine.repository / "jpo-report"), learns(machine)) == ([], False)
    (machine.repository / "config.ini").write_bytes(before)
    assert run_step(machine, tmp_path, ACTION, "Suggest", learn="false").returncode == 0
    assert (codes_of(tmp_path / "jpo-report"), learns(machine)) == ([], False)


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["gitlab", "github"])
def test_a_scheduled_job_learns_in_two_lines_and_the_slim_image_of_the_others_is_content(
    image: tuple[str, Any], tmp_path: Path, platform: str
) -> None:
    name, machine = image
    assert machine.run(["bash", "-ec"], "jpo observe", {}).returncode == 0

    if platform == "gitlab":
        done = run_job(machine, learn_job(budget="12s"))
    else:
        done = run_step(machine, tmp_path, LEARN, "Learn", budget="12s")
    assert (done.returncode, "JPO-E604" in done.stderr) == ((0, False) if name == "full" else (2, True)), done.stderr
    assert learns(machine) == (name == "full")
    if name == "full":
        learnt, tested = done.stdout.splitlines()
        assert re.match(r"learnt from \d+ new runs? of digits/cnn/pytorch \(\d+ of all workloads so far\)", learnt)
        assert re.match(r"release test: \d+ of at most 1100 simulated jobs played", tested)
        assert platform == "gitlab" or (tmp_path / "summary").read_text() == f"    \n    {learnt}\n    {tested}\n"


@pytest.mark.slow
def test_after_a_scheduled_job_has_learnt_a_slim_image_does_not_complain(machine: Any, pythons: Pythons) -> None:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    machine = with_image(machine, pythons["full"])
    assert machine.run(["bash", "-ec"], "jpo observe", {}).returncode == 0
    assert run_job(machine, learn_job(budget="12s")).returncode == 0
    machine = with_image(machine, pythons["slim"])
    assert run_job(machine, jobs()["jpo-suggest"]).returncode == 0
    assert codes_of(machine.repository / "jpo-report") == []


def test_the_scheduled_component_follows_gitlabs_schema_and_quotes_its_inputs(tmp_path: Path) -> None:
    schema_check(yaml.safe_dump(HEADER), tmp_path)
    schema_check(yaml.safe_dump({"jpo-learn": learn_job()}), tmp_path)
    (job,) = JOBS.values()
    assert "inputs." not in "\n".join(job["script"])
    wrong = [n for n, s in HEADER["spec"]["inputs"].items() if "regex" in s and not re.search(s["regex"], s.get("default", ""))]
    assert wrong == []


def test_scheduled_jobs_share_the_history_of_the_suggestions() -> None:
    suggest, learn = jobs(name="vision")["vision-suggest"], learn_job(name="vision")
    assert learn["cache"] == suggest["cache"]
    assert learn["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "schedule"'}]


@pytest.mark.parametrize("action", ["gitlab", "github"])
def test_a_link_is_not_followed(machine: Any, tmp_path: Path, action: str) -> None:
    (tmp_path / "outside.ini").write_text("[a]\nsecret = 1\n")
    (machine.repository / "config.ini").unlink()
    (machine.repository / "config.ini").symlink_to(tmp_path / "outside.ini")
    done = run_job(machine, learn_job()) if action == "gitlab" else run_step(machine, tmp_path, LEARN, "Learn")
    assert (done.returncode, "secret" in done.stdout + done.stderr) == (2, False)


# --- where torch comes from ---------------------------------------------------------------------------------------------------


def wheel(folder: Path, name: str, version: str, text: str = "") -> str:
    """A wheel of one module in an index's folder; its line in a lock file."""
    module, package = name.replace("-", "_"), folder / name
    package.mkdir(parents=True, exist_ok=True)
    file = package / f"{module}-{version}-py3-none-any.whl"
    files = {
        f"{module}/__init__.py": text,
        f"{module}-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{module}-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{path},sha256={_digest(content.encode())},{len(content)}" for path, content in files.items()]
    files[f"{module}-{version}.dist-info/RECORD"] = "\n".join([*record, f"{module}-{version}.dist-info/RECORD,,\n"])
    with zipfile.ZipFile(file, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    (package / "index.html").write_text(f'<a href="{file.name.replace("+", "%2B")}">{file.name}</a>')
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}\n"


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with pip, as the step before leaves it."""
    folder = tmp_path_factory.mktemp("environment") / "jpo"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder


class Installation:
    """What "Install PyTorch" finds: the sources' lock files, an index, a cache, an environment."""

    def __init__(self, folder: Path, environment: Path, address: str) -> None:
        self.folder, self.address = folder, address
        self.sources, self.index, self.cache = folder / "sources", folder / "index", folder / "jpo-wheels"
        (self.sources / "requirements").mkdir(parents=True)
        shutil.copytree(FOLDER, self.sources / "pipelines" / "github")
        (self.sources / "requirements/lock-learn.txt").write_text(wheel(self.index, "sympy", "1.0"))
        (self.sources / "requirements/lock-torch.txt").write_text(wheel(self.index, "torch", "2.13.0+cpu"))
        (folder / "jpo").symlink_to(environment)
        self.remove()

    def installed(self) -> list[Path]:
        """Packages of the environment, and what pip notes of each."""
        (place,) = (self.folder / "jpo/lib").glob("python3*/site-packages")
        return [path for path in place.iterdir() if path.name.startswith(("torch", "sympy"))]

    def remove(self) -> None:
        for path in self.installed():
            shutil.rmtree(path)

    def step(self, index: str = "") -> tuple[int, bool, bool]:
        """Run it: exit code, whether torch is there, whether a warning says that it is not."""
        script = next(step for step in ACTION["runs"]["steps"] if step["name"] == "Install PyTorch")["run"]
        variables = {
            "GITHUB_ACTION_PATH": str(self.sources / "pipelines/github"),
            "JPO_INPUT_TORCH_INDEX": index or self.address,
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": self.address,
            "PIP_RETRIES": "0",
            "RUNNER_TEMP": str(self.folder),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.folder),
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        there = any(path.name == "torch-2.13.0+cpu.dist-info" for path in self.installed())
        return done.returncode, there, done.stdout.startswith("::warning title=JPO::PyTorch was not installed")


NOWHERE = "http://127.0.0.1:9/simple"
INSTALLED, LEFT_OUT = (0, True, False), (0, False, True)


@pytest.fixture
def installation(tmp_path: Path, environment: Path) -> Iterator[Installation]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(tmp_path / "index"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever).start()
    yield Installation(tmp_path, environment, f"http://127.0.0.1:{server.server_port}")
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_torch_comes_from_its_index_once_and_then_from_the_cache(installation: Installation) -> None:
    assert installation.step() == INSTALLED
    assert [file.name for file in installation.cache.iterdir()] == ["torch-2.13.0+cpu-py3-none-any.whl"]
    installation.remove()
    assert installation.step(NOWHERE) == INSTALLED


@pytest.mark.slow
def test_without_the_index_there_is_a_warning_and_nothing_for_the_cache(installation: Installation) -> None:
    assert installation.step(NOWHERE) == LEFT_OUT
    assert not installation.cache.exists()


@pytest.mark.slow
def test_another_file_than_the_pinned_one_is_not_installed_wherever_it_comes_from(installation: Installation) -> None:
    good = (installation.index / "torch/torch-2.13.0+cpu-py3-none-any.whl").read_bytes()
    wheel(installation.index, "torch", "2.13.0+cpu", "raise SystemExit('ours')")
    assert installation.step() == LEFT_OUT, "from the index"
    installation.cache.mkdir()
    forged = (installation.index / "torch/torch-2.13.0+cpu-py3-none-any.whl").read_bytes()
    (installation.cache / "torch-2.13.0+cpu-py3-none-any.whl").write_bytes(forged)
    assert installation.step(NOWHERE) == LEFT_OUT, "from the cache"
    installation.cache.mkdir()
    (installation.cache / "torch-2.13.0+cpu-py3-none-any.whl").write_bytes(forged)
    (installation.index / "torch/torch-2.13.0+cpu-py3-none-any.whl").write_bytes(good)
    assert installation.step() == INSTALLED, "a cache that somebody changed is replaced"
