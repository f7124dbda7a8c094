"""What strangers get: the wheel, the lock files, the images and the two commands of a fresh clone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from jpo.version import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LOCKS = {path.name: path.read_text("utf-8") for path in (ROOT / "requirements").glob("*.txt")}
PINS = {name: dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE)) for name, text in LOCKS.items()}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This working tree as a fresh clone would be: what Git tracks or would track, and nothing that was built here."""
    folder = tmp_path_factory.mktemp("fresh") / "jpo"
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.rstrip("\0").split("\0")
    for name in names:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "all"]):
        subprocess.run([*git, *command], cwd=folder, check=True)
    return folder


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run in `folder` without what the `make` or the environment around this test left in the environment."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "JPO_", "PYTHONPATH", "VIRTUAL_ENV"))}
    return subprocess.run(command, cwd=folder, env=inherited, capture_output=True, text=True, check=False)


# --- the wheel and the lock files -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)], clone)
    assert built.returncode == 0, built.stderr
    return next(folder.glob("jpo-*.whl"))


def test_the_wheel_holds_both_packages_with_their_data_and_nothing_else(clone: Path, wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {"jpo", "constraints", f"jpo-{__version__}.dist-info"}
    tracked = {
        str(path.relative_to(clone)) for top in ("jpo", "constraints") for path in (clone / top).rglob("*") if path.is_file()
    }
    assert tracked <= set(names)
    carried = {"gitlab": "gitlab/.gitlab-ci.yml", "github": "github/example-workflow.yml"}
    with zipfile.ZipFile(wheel) as archive:  # one source: the templates of `jpo init` are those files
        for host, source in carried.items():
            assert archive.read(f"jpo/plugins/ci/start/{host}.yml") == (clone / "pipelines" / source).read_bytes()


@pytest.mark.slow
def test_the_wheel_suggests_without_being_installed(wheel: Path, tmp_path: Path) -> None:
    """uvx: from the wheel alone, in an environment of its own that nobody prepared."""
    job = tmp_path / "job"
    shutil.copytree(ROOT / "examples" / "nightly", job)
    (job / "before.ini").write_bytes((job / "config.ini").read_bytes())
    index = [f"UV_DEFAULT_INDEX={address}"] if (address := os.environ.get("PIP_INDEX_URL")) else []  # uv does not read pip's
    fresh = ["env", *index, f"UV_CACHE_DIR={tmp_path / 'cache'}", f"UV_PYTHON={sys.executable}"]
    uvx = [*fresh, sys.executable, "-m", "uv", "tool", "run", "--quiet", "--from", str(wheel)]
    for command in (
        ["python", "nights.py", "3"],
        ["jpo", "suggest", "config.ini"],
        ["python", "-m", "constraints", "before.ini", "config.ini"],
    ):
        done = run([*uvx, *command], job)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "approved" in done.stdout
    assert (job / "config.ini").read_bytes() != (job / "before.ini").read_bytes()
    torch = run([*uvx, "python", "-c", "import importlib.util as u; print(u.find_spec('torch'), u.find_spec('pytest'))"], job)
    assert torch.stdout == "None None\n"


def test_the_version_stands_in_one_place(wheel: Path) -> None:
    assert "version" not in PROJECT
    assert wheel.name.split("-")[1] == __version__
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == __version__


def test_who_builds_the_same_commit_again_has_the_same_files(clone: Path, wheel: Path, tmp_path: Path) -> None:
    """Also in another folder and at another time: a user can build what was published, and compare."""
    again = tmp_path / "elsewhere"
    shutil.copytree(clone, again)
    for path in again.rglob("*.py"):
        os.utime(path, (1e9, 1e9))
    built = run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)], again)
    assert built.returncode == 0, built.stderr
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_every_dependency_is_locked_in_a_version_that_pyproject_allows() -> None:
    extras = PROJECT["optional-dependencies"]
    asked = {
        "lock.txt": PROJECT["dependencies"],
        "lock-dev.txt": [text for texts in extras.values() for text in texts if not text.startswith("jpo[")],
    }
    for lock, texts in asked.items():
        for wanted in map(Requirement, texts):
            locked = PINS[lock].get(canonicalize_name(wanted.name))
            assert locked is not None, f"{wanted} is not in {lock}; run `make lock`"
            assert wanted.specifier.contains(locked), f"{wanted}, but {lock} has {locked}; run `make lock`"


def test_all_locks_agree_on_versions() -> None:
    for small in ("lock.txt", "lock-build.txt"):
        common = PINS[small].keys() & PINS["lock-dev.txt"].keys()
        assert {name: PINS[small][name] for name in common} == {name: PINS["lock-dev.txt"][name] for name in common}
    assert PINS["lock.txt"].keys() <= PINS["lock-dev.txt"].keys()
    assert PINS["lock.txt"].items() <= PINS["lock-learn.txt"].items() <= PINS["lock-dev.txt"].items()


@pytest.mark.parametrize("name", ["lock.txt", "lock-build.txt", "lock-learn.txt", "lock-torch.txt"])
def test_what_users_install_is_checked_against_hashes(name: str) -> None:
    blocks = re.split(r"^(?=[a-z])", LOCKS[name], flags=re.MULTILINE)[1:]
    assert [block for block in blocks if "--hash=sha256:" not in block] == []
    assert len(blocks) == len(PINS[name])


def test_torch_is_pinned_for_every_platform_and_not_needed_to_suggest() -> None:
    assert PINS["lock-dev.txt"]["torch"] == "2.13.0"
    assert "torch" not in PINS["lock.txt"]
    assert PINS["lock-torch.txt"] == {"torch": f"{PINS['lock-dev.txt']['torch']}+cpu"}


def test_locks_name_no_machine_and_no_index() -> None:
    assert [line for text in LOCKS.values() for line in text.split("\n") if re.search(r"://|^--|^-|/tmp|nvidia", line)] == []


# --- the images -------------------------------------------------------------------------------------------------------------


def stages() -> dict[str, list[tuple[str, str]]]:
    """Stage name -> its instructions, in order, comments and continuations resolved; FROM first."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE).replace("\\\n", " ")
    found: dict[str, list[tuple[str, str]]] = {}
    for line in filter(None, map(str.strip, text.split("\n"))):
        instruction, _, rest = line.partition(" ")
        if instruction == "FROM":
            base, _, name = rest.partition(" AS ")
            found[name] = [("FROM", base)]
        else:
            found[name].append((instruction, rest))
    return found


def test_every_base_image_is_pinned_by_a_full_tag_and_a_digest() -> None:
    bases = {steps[0][1] for steps in stages().values()} - {*stages()}
    assert [base for base in bases if not re.fullmatch(r"python:3\.\d+\.\d+-slim-bookworm@sha256:[0-9a-f]{64}", base)] == []
    assert len(bases) == 1


def test_torch_comes_from_the_index_that_is_named_and_from_no_other() -> None:
    (torch,) = [rest for _, rest in stages()["full-environment"] if "lock-torch.txt" in rest and "install" in rest]
    assert re.search(
        r'--require-hashes --no-deps +--index-url "\$\{TORCH_INDEX:\?[^"]+\}" -r /requirements/lock-torch.txt$', torch
    )
    every = " ".join(rest for steps in stages().values() for _, rest in steps)
    made = (ROOT / "Makefile").read_text("utf-8")
    assert not re.search("extra-index|EXTRA_INDEX|find-links|trusted-host", every + made + LOCKS["lock-torch.txt"])
    assert "$(PIP) install --require-hashes --no-deps --index-url $(TORCH_INDEX) -r requirements/lock-torch.txt" in made


def test_images_install_nothing_without_hashes_but_jpo_itself() -> None:
    installs = [rest for steps in stages().values() for i, rest in steps if i == "RUN" and "pip" in rest and " install " in rest]
    own = [rest for rest in installs if "--require-hashes" not in rest and "pip uninstall" not in rest]
    assert [rest.partition("--no-deps ")[2] for rest in own] == ["--no-index /wheels/jpo-*.whl"]


def test_python_in_images_listens_to_nothing_but_the_command() -> None:
    runs = [rest for steps in stages().values() for instruction, rest in steps if instruction == "RUN"]
    assert [rest for rest in runs if re.search(r"(?<!--)\bpython (?!-I )", rest)] == []


@pytest.mark.parametrize("target", ["slim", "full"])
def test_an_image_runs_without_a_name_and_takes_nothing_but_the_environment(target: str) -> None:
    steps = stages()[target]
    assert steps[0] == ("FROM", "runtime")
    assert [rest for instruction, rest in steps if instruction == "COPY"] == [f"--from={target}-environment /opt/jpo /opt/jpo"]
    assert steps[-1] == ("USER", "10001:10001")
    assert ("ENTRYPOINT", '["jpo"]') in stages()["runtime"]


def test_the_label_of_the_image_has_the_version_of_the_package() -> None:
    (labels,) = [rest for instruction, rest in stages()["runtime"] if instruction == "LABEL"]
    assert f'image.version="{__version__}"' in labels
    assert PROJECT["description"].removeprefix("Job Parameter Optimizer: ") in labels


def test_images_download_nothing_by_address_and_hold_no_secret() -> None:
    every = [step for steps in stages().values() for step in steps]
    assert not {"ADD", "SHELL", "ONBUILD"} & {instruction for instruction, _ in every}
    assert not [rest for _, rest in every if re.search(r"https?://|curl|wget|apt-get|token|password", rest, re.IGNORECASE)]


def test_the_build_context_has_all_that_is_copied_and_no_more() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").split("\n") if line.startswith("!")}
    sources = [rest.split()[:-1] for steps in stages().values() for i, rest in steps if i == "COPY" and "--from" not in rest]
    assert {source.partition("/")[0] for line in sources for source in line} == kept


# --- the commands of a fresh clone ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_make_demo_ends_with_a_suggestion_and_a_clean_git_status(clone: Path) -> None:
    done = run(["make", "demo", f"PYTHON={sys.executable}"], clone)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "$ jpo suggest config.ini" in done.stdout
    assert (clone / ".demo/config.ini").read_bytes() != (clone / "examples/quickstart/config.ini").read_bytes()
    assert run(["git", "status", "--porcelain"], clone).stdout == ""
    assert "torch" not in os.listdir(next((clone / ".venv/lib").glob("python*/site-packages")))  # noqa: PTH208 - names are enough


def test_make_explains_a_python_that_is_too_old(tmp_path: Path, clone: Path) -> None:
    old = tmp_path / "python3.9"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.1\nexit 1\n')
    old.chmod(0o755)
    refused = run(["make", "--always-make", ".venv/.made", f"PYTHON={old}"], clone)
    assert refused.returncode == 2
    assert "JPO needs Python 3.11 or newer; found Python 3.9.1" in refused.stderr


def test_every_make_target_has_help(clone: Path) -> None:
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert targets is not None
    listed = re.findall(r"^  make (\w+)", run(["make", "help"], clone).stdout, re.MULTILINE)
    assert sorted(listed) == sorted(targets[1].split())


def test_installing_what_is_there_asks_nobody() -> None:
    result = run([".ci/install", "bash", "coreutils"], ROOT)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("script", [".ci/run", ".ci/install", ".ci/release", "requirements/compile"])
def test_scripts_can_be_run(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
    assert subprocess.run(["bash", "-n", script], cwd=ROOT, check=False).returncode == 0
