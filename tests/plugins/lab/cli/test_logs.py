from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from jpo.cli.main import cli


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


LOG = """# run_id=r1
# dataset=d
# model=m
# framework=f
# batch_size=64
time,epoch,samples,train_loss,val_loss
100,1,500,0.2,0.3
110,2,1000,0.1,0.2
# end=110
# status=succeeded
"""


@pytest.mark.parametrize(
    ("form", "beginning"),
    [("table", "Runs in logs\n"), ("json", "{"), ("csv", "dataset,model"), ("markdown", "### Runs"), ("html", "<!DOCTYPE html>")],
)
def test_logs_have_every_form(form: str, beginning: str) -> None:
    runner = CliRunner()
    Path("r1.csv").write_text(LOG)
    answer = runner.invoke(cli, ["lab", "logs", "r1.csv", "-o", form])
    assert (answer.exit_code, answer.output[: len(beginning)]) == (0, beginning), answer.exception
