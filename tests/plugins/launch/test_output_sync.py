from __future__ import annotations

from pathlib import Path

from jpo.errors import LaunchError
from jpo.plugins.launch.output_sync import OutputSync


def test_files_come_home_now_and_then_to_a_folder_that_is_there(tmp_path: Path) -> None:
    brought, output = list[Path](), OutputSync(tmp_path, 10.0)
    (tmp_path / "run-1").mkdir()
    for now in (None, 100.0, 109.0, 110.0):
        output.bring("run-1", now, brought.append)
    output.bring("run-1", 111.0, brought.append, at_once=True)
    assert brought == [tmp_path / "run-1"] * 3
    for run_id in ("run-2", "../run-1", ""):
        output.bring(run_id, 200.0, brought.append)
    OutputSync(None, 10.0).bring("run-1", 200.0, brought.append)
    assert len(brought) == 3


def test_what_cannot_be_had_is_no_news_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "run-1").mkdir()

    def refused(_folder: Path) -> None:
        raise LaunchError("bucket ml-runs", "is away", code="JPO-E754")

    OutputSync(tmp_path, 10.0).bring("run-1", 100.0, refused)
