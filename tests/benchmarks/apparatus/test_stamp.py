from __future__ import annotations

import re
import runpy
from pathlib import Path

STAMP = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "apparatus" / "stamp.py"))


def test_the_stamp_names_day_machine_and_commit() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d, \S+, \d+ cores, Python 3[.\d]+, commit ([0-9a-f]{7,}\+?|unknown)", STAMP["stamp"]())


def test_the_commit_is_that_of_the_repository() -> None:
    assert (STAMP["ROOT"] / "pyproject.toml").is_file()
