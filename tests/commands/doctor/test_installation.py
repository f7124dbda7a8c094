"""Installation: Python, packages, torch, the guard and the pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from commands.doctor.diagnosis import diagnosis

if TYPE_CHECKING:
    from conftest import Project


def test_without_torch_learning_says_how_to_get_it(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jpo.commands.doctor.installation.version_of", lambda package: None if package == "torch" else "1")
    learning = diagnosis(empty)[1]["learning"]
    assert (learning["status"], learning["code"]) == ("ok", "JPO-I140")
    assert 'pip install "jpo[learn]"' in learning["next_step"]
