"""Launched runs as a source: what loads when, and what it costs where nothing was launched."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

from jpo.plugins.launch.project.source import launched, ledger_of
from jpo.project.project import open_history
from jpo.records import Finished

if TYPE_CHECKING:
    from opened_repository import Repository

STARTS = (
    "import sys, jpo.commands.suggest; print(*sorted(name for name in sys.modules if name.startswith('jpo.plugins.launch.')))"
)


def test_a_repository_that_launched_nothing_has_no_ledger_after_it_was_asked(repository: Repository) -> None:
    _, settings = repository()
    with open_history(settings) as store:
        assert launched(settings, store, now=time.time()) == Finished()
    assert not ledger_of(settings).exists()


def test_suggest_starts_without_any_engine() -> None:
    loaded = subprocess.run([sys.executable, "-c", STARTS], capture_output=True, text=True, check=True).stdout.split()
    assert not {name.split(".")[2] for name in loaded} & {"aws", "kubernetes", "local", "slurm"}
