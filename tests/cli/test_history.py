from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from jpo.cli.main import cli


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "html"])
@pytest.mark.parametrize("more", [[], ["--compare"]])
def test_an_empty_history_has_every_form(form: str, more: list[str]) -> None:
    runner = CliRunner()
    answer = runner.invoke(cli, ["history", "-o", form, *more])
    assert (answer.exit_code, answer.output != "") == (0, True)


def test_table_is_the_default() -> None:
    runner = CliRunner()
    assert runner.invoke(cli, ["history"]).output == runner.invoke(cli, ["history", "-o", "table"]).output
