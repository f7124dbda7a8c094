"""Some points of a few conversations; benchmarks/freezes.py takes every one, and presses Ctrl-C there, too."""

from __future__ import annotations

import os
import runpy
import shutil
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason='needs pip install "jpo[postgres]"')
FREEZES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "freezes.py"))
SHARES = (0.1, 0.5, 0.9)
"""Where the conversation stops, as shares of its pieces."""


@pytest.mark.parametrize(("command", "login"), [("audit verify", False), ("explain", True)])
def test_a_reader_whose_server_stops_ends_in_time_with_a_password_as_without(
    command: str, login: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if FREEZES["POSTGRESQL"]["missing"]() or shutil.which("openssl") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("apt-get install postgresql openssl")
    for name in ("JPO_STORE__URL", "JPO_STORE__TIMEOUT"):
        monkeypatch.setenv(name, "")  # what the bench sets is gone afterwards
    with FREEZES["bench"]("PostgreSQL", FREEZES["PLAYED"][command], login=login) as place:
        points, wanted = FREEZES["conversation"](place, command)
        for share, way in zip(SHARES, ("silent", "closed", "silent"), strict=True):
            point = points[round(share * (len(points) - 1))]
            _, found = FREEZES["suffered"](place, command, point, way, wanted)
            assert found == [], (point, way)
