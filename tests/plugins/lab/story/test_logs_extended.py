"""The extended CSV of `jpo lab logs` on the disk: whole, over its own kind alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.lab.report.logs import extended_csv, extended_head
from jpo.plugins.lab.story import logs

HEAD = extended_head(("time_max", "cost_max"))
TABLE = extended_csv([], ("time_max", "cost_max"))


def test_a_new_table_has_the_mode_of_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        logs.write_extended(tmp_path / "all.csv", TABLE)
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert (tmp_path / "all.csv").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "all.csv").read_text() == ",".join(HEAD) + "\n"


@pytest.mark.parametrize("content", ["", "run_id\n", ",".join(HEAD[:-1]) + "\n", ",".join(HEAD) + ",mine\n"])
def test_another_file_is_never_replaced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "all.csv"
    path.write_text(content)
    with pytest.raises(UsageError) as caught:
        logs.write_extended(path, TABLE)
    assert (caught.value.code, path.read_text()) == ("JPO-E132", content)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/null")])
def test_pipes_and_devices_are_refused_at_once(tmp_path: Path, make) -> None:
    make(tmp_path / "all.csv")
    with pytest.raises(UsageError, match="not written by this version") as caught:
        logs.write_extended(tmp_path / "all.csv", "")
    assert caught.value.code == "JPO-E132"


def test_a_file_that_somebody_makes_meanwhile_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "all.csv"
    monkeypatch.setattr(logs, "ours", lambda _path, _names: path.write_text("theirs") == 0)
    with pytest.raises(UsageError) as caught:
        logs.write_extended(path, TABLE)
    assert (caught.value.code, path.read_text(), len(list(tmp_path.iterdir()))) == ("JPO-E132", "theirs", 1)


def test_a_link_to_a_table_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("all.csv")
    for _ in range(2):
        logs.write_extended(tmp_path / "link", TABLE)
    assert (tmp_path / "link").is_symlink()
    assert logs.ours(tmp_path / "all.csv", HEAD)
