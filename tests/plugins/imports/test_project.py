"""What jpo.toml and the environment say of imports."""

from __future__ import annotations

import pytest
from answering import sends, served


@pytest.mark.parametrize(
    ("toml", "code", "finding"),
    [
        ('[imports.columns]\nval_loss = "validation"', 4, "has no column 'validation', which [imports.columns] val_loss names"),
        ('[imports.columns]\nloss = "val/loss"', 2, "[imports.columns] loss: is nothing that is read of a run; known are run_id"),
        ('[imports.columns]\nval_loss = { column = "val/loss", unit = "min" }', 2, "cannot have the unit 'min'; it has none"),
        ('[imports.columns]\nduration_seconds = { column = "a", unit = "y" }', 2, "it is one of s, ms, min, h, d"),
        ('[imports.columns]\nduration_seconds = { column = "a", units = "y" }', 2, "jpo.toml"),
        ("[imports.columns]\nval_loss = 3", 2, "jpo.toml"),
    ],
)
def test_a_map_that_cannot_be_is_an_error(empty, toml, code, finding):
    (empty.folder / "jpo.toml").write_text(toml)
    (empty.folder / "table.csv").write_text("end,val/loss,a\n2026-01-01,0.4,1\n")
    answer = empty.jpo("import", "table.csv", "--write")
    assert (answer.code, answer.err.count("\n")) == (code, 1)
    assert finding in answer.err


@pytest.mark.parametrize(
    ("environ", "code", "finding"),
    [
        ({"MLFLOW_TRACKING_TOKEN": "s3cret"}, "JPO-E323", "would get the token of MLFLOW_TRACKING_TOKEN unencrypted"),
        (
            {"MLFLOW_TRACKING_USERNAME": "me", "MLFLOW_TRACKING_PASSWORD": "s3cret"},
            "JPO-E323",
            "would get the password of MLFLOW_TRACKING_PASSWORD unencrypted",
        ),
        (
            {"MLFLOW_TRACKING_TOKEN": "s3cret", "MLFLOW_TRACKING_URI": "https://mlflow.example"},
            "JPO-E321",
            "which is for MLFLOW_TRACKING_URI=https://mlflow.example",
        ),
    ],
)
def test_a_secret_goes_to_no_server_that_it_is_not_for(empty, monkeypatch, environ, code, finding):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    answer = empty.jpo("import", "http://other.example:5000", "--experiment", "nightly")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert finding in answer.err
    assert code in answer.err
    assert "s3cret" not in answer.err


def test_the_credentials_of_mlflows_client_are_sent(empty, monkeypatch):
    """To a server on this machine, or one that the runner allows."""
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "me")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "s3cret")
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "other")
    sent = []

    def answer(handler):
        sent.append(handler.headers["Authorization"])
        sends({"message": "no"}, 403)(handler)

    with served(answer) as server:
        assert empty.jpo("import", server.url, "--experiment", "nightly").code == 4
    assert sent == ["Basic bWU6czNjcmV0"]
