"""The answer of a suggestion is a record: who suggests renders nothing."""

from __future__ import annotations

import subprocess
import sys


def test_who_suggests_loads_no_rendering_and_nothing_of_learning() -> None:
    loaded = "import sys, jpo.commands.suggest; print(*sorted(name for name in sys.modules if name.startswith('jpo.')))"
    names = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    assert "jpo.report.answer" in names
    assert {"jpo.report.suggestion", "jpo.report.document", "jpo.learning.continual"} & {*names} == set()
