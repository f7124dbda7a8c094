"""Agents of a user's own file: loaded when named, and whatever they raise is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.cluster.agents.base import ClassicAgent
from jpo.plugins.cluster.agents.loaded import AgentFaults, load_agent


def test_a_class_of_a_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from jpo.plugins.cluster.agents.base import ClassicAgent\nclass Mine(ClassicAgent):\n    pass\n"
    )
    assert issubclass(load_agent(f"{tmp_path}/mine.py:Mine"), ClassicAgent)


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        ("x = 1 / 0\n", "Mine", "raised ZeroDivisionError: division by zero (line 1 of mine.py)"),
        ("def (:\n", "Mine", "raised SyntaxError"),
        ("import no_such_module\n", "Mine", "raised ModuleNotFoundError"),
        ("raise SystemExit(0)\n", "Mine", "raised SystemExit"),
        ("raise BaseException(3)\n", "Mine", "raised BaseException: 3"),
        ("raise BaseExceptionGroup('two', [SystemExit(1)])\n", "Mine", "raised BaseExceptionGroup"),
        ("class Other: pass\n", "Mine", "has no agent Mine"),
        ("class Mine: pass\n", "Mine", "derives from neither ClassicAgent nor LearningAgent"),
        ("", "no name", "names no class of a file"),
    ],
)
def test_a_file_that_holds_no_agent_or_raises_is_one_line(tmp_path: Path, content: str, name: str, told: str) -> None:
    (tmp_path / "mine.py").write_text(content)
    with pytest.raises(UsageError) as caught:
        load_agent(f"{tmp_path}/mine.py:{name}")
    assert told in str(caught.value)
    assert caught.value.code == "JPO-E748"


def test_an_interrupt_stays_one() -> None:
    with pytest.raises(KeyboardInterrupt), AgentFaults("mine"):
        raise KeyboardInterrupt
