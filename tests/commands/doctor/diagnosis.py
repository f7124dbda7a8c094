"""What `jpo doctor` says of a project, for the tests of its checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from user_project import Project

SECRET = "s3cret-of-the-test"


def configure(project: Project, text: str) -> None:
    (project.folder / "jpo.toml").write_text(text)


def diagnosis(project: Project, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the checks by name (the last one of each)."""
    answer = project.jpo("doctor", "-o", "json", *arguments)
    document = json.loads(answer.out)
    assert (document["schema_version"], document["exit_code"]) == (1, answer.code)
    return answer.code, {check["name"]: check for check in document["checks"]}


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
