from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jpo.plugins.launch.ledger import Entry, folder_of
from jpo.plugins.launch.project.boundaries import progress_of
from jpo.plugins.launch.project.command import Invocation
from jpo.plugins.launch.project.jobs import job_of
from jpo.plugins.launch.project.place import ledger_of
from jpo.project.workload import read_workload

if TYPE_CHECKING:
    from opened_repository import Repository

HEAD = "# run_id=run-1\n# dataset=digits\n# model=cnn\n# framework=pytorch\n# start=1000\n"


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        (None, None),
        ("", None),
        (HEAD, None),
        (
            f"{HEAD}time,epoch,samples,train_loss,val_loss\n1001,2,10,0.5,0.25\n1002,",
            ("run-1: epoch 2, train loss 0.5, val loss 0.25", 2.0, None),
        ),
        (f"{HEAD}# epochs=8\ntime,epoch,samples,train_loss,val_loss\n1001,2,,,\n", ("run-1: epoch 2 of 8", 2.0, 8.0)),
        (f"{HEAD}time,epoch,samples,train_loss,val_loss\n1001,nan,,,\n", None),
    ],
)
def test_the_last_epoch_is_told(repository: Repository, log: str | None, shown: object) -> None:
    path, settings = repository()
    entry = Entry(job_of(read_workload(path, settings, now=0.0), settings, Invocation(("true",)), run_id="run-1"), "local", 0.0)
    runs = folder_of(ledger_of(settings), "run-1") / "runs"
    runs.mkdir(parents=True)
    if log is not None:
        (runs / "run-1.csv").write_text(log)
    assert progress_of(entry, ledger_of(settings), settings) == shown
