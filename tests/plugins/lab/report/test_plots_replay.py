from __future__ import annotations

from pathlib import Path

import pytest
from contests import small_contest

from jpo.errors import UsageError
from jpo.plugins.lab.replay.contest import Contest, Result, hold
from jpo.plugins.lab.report import plots_replay
from jpo.records import silently


@pytest.fixture
def contest() -> Contest:
    return small_contest()


@pytest.fixture
def result(contest: Contest) -> Result:
    return hold(contest, jobs=1, backend="loky", track=silently)


@pytest.mark.parametrize(("name", "start"), [("out.png", b"\x89PNG"), ("out.svg", b"<?xml")])
def test_the_picture_is_drawn_and_the_same_figures_give_the_same_bytes(
    tmp_path: Path, contest: Contest, result: Result, name: str, start: bytes
) -> None:
    contents = []
    for _ in range(2):
        plots_replay.plot(tmp_path / name, contest, result)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0].startswith(start)
    assert contents[0] == contents[1]


def test_a_picture_that_cannot_be_written_is_an_error(tmp_path: Path, contest: Contest, result: Result) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        plots_replay.plot(tmp_path / "none" / "out.png", contest, result)
