"""Runs of a real MLflow server, logged by MLflow's own client; and servers in trouble."""

from __future__ import annotations

import json
import math

import pytest
from answering import Handler, cuts, sends, served
from mlflow_runs import log_runs

from jpo.errors import JpoError, TelemetryError, UsageError
from jpo.http.endpoint import Endpoint
from jpo.plugins.imports.columns import columns_of
from jpo.plugins.imports.mlflow import KNOWN
from jpo.plugins.imports.mlflow_server import read_server
from jpo.plugins.imports.translate import Said, translated
from jpo.records import Identity

SAID = Said(otherwise={"dataset": "digits", "model": "cnn", "framework": "pytorch"})
SECRET = "s3cret-of-the-test"


def night(number, batch_size, *, status="FINISHED", loss=1.0, **more):
    start = 1_700_000_000_000 + 86_400_000 * number
    metrics = [("val_loss", start + epoch, epoch, loss / epoch) for epoch in range(1, 5)]
    metrics += [("lr", start + epoch, epoch, 1e-6) for epoch in range(1, 5)]
    metrics += [("system/gpu_0_utilization_percentage", start + step, step, 40.0 + 10 * step) for step in range(1, 5)]
    params = {"batch_size": batch_size, "lr": 2e-5, "epochs": 4}
    end = {"start": start, "end": start + 600_000, "status": status}
    return {"name": f"night-{number}", **end, "params": params, "metrics": metrics, **more}


@pytest.fixture(scope="module")
def nights(mlflow_server, request):
    """An experiment of a hundred-odd runs; as a name that no other worker has."""
    runs = [night(number, 32) for number in range(3)]
    runs += [night(3, 64, status="FAILED"), night(4, 64, status="RUNNING"), night(5, 64, deleted=True)]
    runs += [night(6, 64, loss=math.inf), night(7, 64, loss=math.nan), night(8, 16, tags={"dataset": "other"})]
    log_runs((mlflow_server, "digits nightly / ü", runs))
    return Endpoint(mlflow_server, timeout_seconds=60)


def read(source, *experiments):
    found = read_server(source, experiments)
    return translated(found, columns_of(found, {}), SAID, now=4e9)


def test_runs_of_an_experiment(nights):
    found = read(nights, "digits nightly / ü")
    by_end = sorted(found.runs, key=lambda run: run.ended_at)
    good = by_end[0]
    assert [run.status.value for run in by_end] == [*["succeeded"] * 3, "failed", "diverged", "diverged", "succeeded"]
    assert good.identity == Identity("digits", "cnn", "pytorch")
    assert by_end[-1].identity.dataset == "other"
    assert good.parameters == {"batch_size": 32, "learning_rate": 2e-5, "epochs": 4}
    assert (good.started_at, good.outcome.duration_seconds, good.outcome.val_loss) == (1.7e9, 600, 0.25)
    assert (good.outcome.gpu_utilisation, good.outcome.loss_slope) == (pytest.approx(0.65), pytest.approx(-1, abs=0.01))
    assert good.source == f"mlflow: {nights.shown_url}: run {good.run_id}"
    assert [skipped.reason for skipped in found.skipped] == ["it is running: its run is not over"]


def test_an_experiment_has_a_name_and_a_number(nights, monkeypatch):
    """Read in pages of two runs, by its number this time: the same runs."""
    monkeypatch.setattr("jpo.plugins.imports.mlflow_server.PAGE", 2)
    number = next(str(number) for number in range(1, 9) if len(_or_none(nights, str(number))) == 7)
    assert read(nights, number).runs == read(nights, "digits nightly / ü").runs


def _or_none(source, number):
    try:
        return read(source, number).runs
    except JpoError:
        return ()


@pytest.mark.parametrize(("names", "finding"), [(["nix"], "has no experiment 'nix'"), ([], "names no experiment")])
def test_an_experiment_that_is_not_there_is_answered_with_those_that_are(nights, names, finding):
    with pytest.raises(UsageError, match=r"add --experiment NAME; it has .*digits nightly / ü") as caught:
        read(nights, *names)
    assert (caught.value.code, caught.value.finding) == ("JPO-E158", finding)


EXPERIMENT = sends({"experiment": {"experiment_id": "1", "name": "nightly"}})
RUN = {"info": {"run_id": "a", "status": "FINISHED", "start_time": 1, "end_time": 2}, "data": {}}


def metrics(*points):
    return sends({"runs": [{**RUN, "data": {"metrics": list(points)}}]})


@pytest.mark.parametrize(
    ("answers", "code", "finding"),
    [
        ([sends(b"<html>sign in", kind="text/html")], "JPO-E104", r"a web page \(a sign-in page\?\)"),
        ([sends(b"", 302, Location="https://login.example/")], "JPO-E104", "redirects to another server"),
        ([sends({"message": "who are you"}, 401)], "JPO-E101", r"refused the credentials \(HTTP 401\): who are you"),
        ([sends(b"no", 403, "text/plain")], "JPO-E101", "does not allow this user to read"),
        ([sends(b"404 page not found", 404, "text/plain")], "JPO-E104", "HTTP 404 without an answer of MLflow"),
        ([sends({"error_code": "INTERNAL_ERROR", "message": "disk"}, 500)], "JPO-E102", r"not available \(HTTP 500\): disk"),
        ([sends(b'{"experi')], "JPO-E108", "answer was cut off or is not JSON"),
        ([cuts], "JPO-E108", "answer was cut off"),
        ([sends(b'{"a": NaN}')], "JPO-E108", "is not JSON"),
        ([sends([1])], "JPO-E108", "is not JSON"),
        ([sends({"experiment": [1]})], "JPO-E104", "a malformed experiment"),
        ([sends({})], "JPO-E104", "an experiment without an id"),
        ([sends({"error_code": "INVALID_PARAMETER_VALUE", "message": "no"}, 400)], "JPO-E105", "rejected the question"),
        ([EXPERIMENT, sends({"runs": [RUN], "next_page_token": "again"})], "JPO-E104", "the same page again"),
        ([EXPERIMENT, sends({"next_page_token": "more"})], "JPO-E104", "an empty page that is not the last"),
        ([EXPERIMENT, sends({"runs": {"a": 1}})], "JPO-E104", "malformed runs"),
        ([EXPERIMENT, sends({"runs": [{"info": {}}]})], "JPO-E104", "a run without an id"),
        ([EXPERIMENT, metrics({"key": "loss", "value": "low", "step": 1})], "JPO-E104", "malformed metrics"),
        ([EXPERIMENT, metrics({"key": "loss", "value": 1, "step": [1]})], "JPO-E104", "malformed metrics"),
        ([EXPERIMENT, metrics({"key": ["loss"], "value": 1})], "JPO-E104", "malformed metrics"),
        ([EXPERIMENT, sends(b" " * (65 * 2**20))], "JPO-E109", "more than 64 MiB"),
    ],
)
def test_a_server_in_trouble_is_one_error(answers, code, finding):
    with served(*answers) as server, pytest.raises(TelemetryError, match=finding) as caught:
        read_server(Endpoint(server.url, timeout_seconds=5, bearer_token=SECRET), ["nightly"])
    assert caught.value.code == code
    assert SECRET not in str(caught.value)
    assert "Prometheus" not in str(caught.value)
    assert "--" not in str(caught.value)


def test_a_server_that_hangs_is_given_up():
    with served(lambda handler: handler.server.over.wait()) as server, pytest.raises(TelemetryError) as caught:
        read_server(Endpoint(server.url, timeout_seconds=0.2), ["nightly"])
    assert (caught.value.code, caught.value.remedy) == ("JPO-E103", "raise [imports] timeout, or name fewer experiments")


def test_the_token_is_sent_and_never_shown():
    sent = []

    def answer(handler: Handler) -> None:
        sent.append(handler.headers["Authorization"])
        sends({"message": f"you sent {SECRET}"}, 403)(handler)

    with served(answer) as server, pytest.raises(TelemetryError, match=r"you sent \[hidden\]"):
        read_server(Endpoint(server.url, bearer_token=SECRET), ["nightly"])
    assert sent == [f"Bearer {SECRET}"]


def test_courses_are_asked_for_where_they_count():
    """Of the loss that jpo.toml names, not of training's, nor of runs that go on."""
    points = [{"key": key, "value": 0.5, "step": 3} for key in ("val_loss", "mine", "train_loss", "f1")]
    told = [{**RUN, "data": {"metrics": points}}, {"info": {**RUN["info"], "status": "RUNNING"}, "data": {"metrics": points}}]
    history = sends({"metrics": [{"key": "x", "value": 1.0, "step": str(step)} for step in (1, 2)]})
    with served(EXPERIMENT, sends({"runs": told}), history) as server:
        first, other = read_server(Endpoint(server.url), ["nightly"], "metrics.mine").runs
        assert [text.partition("metric_key=")[2] for text in server.asked[2:]] == [
            "val_loss&max_results=10000",
            "mine&max_results=10000",
        ]
    assert json.loads(first.cells["metrics.mine"]) == 1.0
    assert other.curves["metrics.val_loss"] == ((3.0, 0.5),)
    assert set(KNOWN) >= {"run_id"}
