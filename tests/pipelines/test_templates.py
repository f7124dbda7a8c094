"""What all templates have in common: nothing of the branch decides which code runs, and nothing is named by a tag."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "pipelines"
TEMPLATES = sorted(path for pattern in ("*.yml", "*.bash") for path in FOLDER.rglob(pattern))
PYTHON = re.compile(r"""(?:^|[\s("])(?:"?\$[{\w/]*(?:PYTHON|jpo/bin/python)[}"]*"?|python3?)"? (?P<rest>.*)""")
OF_THE_TEAM = "train.py config.ini"
"""Not ours: the training job of the examples."""


def code(path: Path) -> list[str]:
    """The lines of a file without comments and descriptions."""
    lines = [re.sub(r"(^|\s)#.*", "", line) for line in path.read_text("utf-8").split("\n")]
    return [line for line in lines if not re.match(r"\s*(description|default|- name|name):", line)]


def test_there_are_templates() -> None:
    assert len(TEMPLATES) == 12


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_python_starts_isolated_from_the_checkout_and_the_environment(path: Path) -> None:
    """-I: neither the working directory nor PYTHONPATH is searched for modules."""
    starts = [found["rest"] for line in code(path) if (found := PYTHON.search(line))]
    assert [rest for rest in starts if not rest.startswith("-I ") and rest != OF_THE_TEAM] == []
    assert [line for line in code(path) if re.search(r"(?<!-I -m )\b(jpo|pip3?) +(suggest|audit|observe|install)\b", line)] == []


@pytest.mark.parametrize("path", [FOLDER / "github/action.yml", FOLDER / "gitlab/templates/jpo.yml"], ids=["github", "gitlab"])
def test_the_rule_finds_what_it_is_about(path: Path) -> None:
    assert sum(bool(PYTHON.search(line)) for line in code(path)) >= 4


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_actions_are_named_by_their_full_commit_and_images_by_their_digest(path: Path) -> None:
    text = path.read_text("utf-8")
    assert [use for use in re.findall(r"uses: (\S+)", text) if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", use)] == []
    images = [image for image in re.findall(r"^ *image: (\S+)$", text, re.MULTILINE) if "$[[" not in image]
    assert [image for image in images if not re.fullmatch(r"[\w./-]+@sha256:[0-9a-f]{64}", image)] == []


def test_no_template_asks_a_second_index() -> None:
    files = [*TEMPLATES, ROOT / "Dockerfile", ROOT / "requirements/compile", *(ROOT / "requirements").glob("*.txt")]
    assert [path.name for path in files if re.search("(?i)extra.index", path.read_text("utf-8"))] == []
