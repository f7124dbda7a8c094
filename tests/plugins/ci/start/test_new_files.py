"""Files that are made where none is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.ci.start.new_files import NewFile, is_the_same, made, refuse_unmakeable, there_already


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_is_made_with_the_folders_that_it_needs(folder: Path) -> None:
    file = NewFile(Path("a/b/c.yml"), "text\n", "")
    assert (there_already(file), made(file), there_already(file), is_the_same(file)) == (False, True, True, True)


def test_one_that_came_meanwhile_is_left_alone(folder: Path) -> None:
    Path("c").write_text("theirs")
    file = NewFile(Path("c"), "ours", "")
    assert (made(file), Path("c").read_text(), is_the_same(file)) == (False, "theirs", False)


def test_what_is_no_file_is_there_too_and_not_the_same(folder: Path) -> None:
    Path("folder").mkdir()
    Path("link").symlink_to("nowhere")
    os.mkfifo("pipe")
    for name in ("folder", "link", "pipe"):
        file = NewFile(Path(name), "", "")
        assert (there_already(file), is_the_same(file)) == (True, False)


def test_no_link_leads_out_of_the_project(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    Path("a").symlink_to(outside)
    for ask in (refuse_unmakeable, made):
        with pytest.raises(UsageError, match="out of the project") as caught:
            ask(NewFile(Path("a/b/c"), "", ""))
        assert caught.value.code == "JPO-E307"
    assert list(outside.iterdir()) == []
