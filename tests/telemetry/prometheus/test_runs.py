"""Runs read from a real Prometheus and VictoriaMetrics, against the truth of the history that was put into them (conftest.py)."""

from __future__ import annotations

import pytest

from jpo.http.endpoint import Endpoint
from jpo.records import Identity, RunStatus, Word
from jpo.telemetry.outcome import Own
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.runs import finished_runs

HOUR = 3600.0
DIGITS = Identity("digits", "cnn", "pytorch")
PROMETHEUS = pytest.mark.parametrize("serve", ["prometheus"], indirect=True)
"""For what VictoriaMetrics words otherwise or does not take."""


@pytest.fixture
def reading(history):
    """Look at the digits runs: hours count from the beginning of the history."""

    def reading(since=0.0, until=6.0, watermark=None, identity=DIGITS):
        begin = history.since
        mark = None if watermark is None else begin + watermark * HOUR
        source = Endpoint(history.url)
        return finished_runs(source, identity, since=begin + since * HOUR, until=begin + until * HOUR, watermark=mark)

    return reading


@pytest.fixture
def runs(reading):
    return {run.run_id: run for run in reading().runs}


def test_finds_exactly_the_runs_that_are_over(runs):
    assert list(runs) == ["plain", "restarted", "diverged", "failed", "pair", "silent", "vanished", "gap", "killed"]


def test_values_agree_with_the_truth(runs, history):
    for truth in history.runs:
        if run := runs.get(truth.run_id):
            outcome = run.outcome
            assert run.started_at == pytest.approx(history.since + truth.start, abs=truth.step)
            assert outcome.duration_seconds == pytest.approx(truth.seconds, rel=0.02)
            assert outcome.samples == pytest.approx(100 * truth.seconds, rel=0.02)
            assert outcome.throughput_samples_per_second == pytest.approx(100, rel=0.02)
            assert outcome.cpu_utilisation == pytest.approx(1.5 / 2, rel=0.02)
            assert outcome.memory_gib == 2.0
            assert outcome.train_loss == 0.5


def test_parameters_come_from_the_labels_of_the_run(runs):
    assert runs["plain"].parameters == {"batch_size": 64, "learning_rate": 0.01, "epochs": 3, "cpus": 2}
    assert runs["plain"].source == "prometheus"


def test_declared_labels_are_parameters_too_words_as_words(history):
    own = Own({"optimizer": True, "dropout": False, "weight_decay": False, "warmup": False, "nesterov": True})
    names = Names.of({}, {"weight_decay": "wd"}, own=own)
    since, until = history.since, history.since + 6 * HOUR
    found = finished_runs(Endpoint(history.url), DIGITS, since=since, until=until, watermark=None, names=names)
    plain = next(run for run in found.runs if run.run_id == "plain")
    assert {name: plain.parameters.get(name) for name in own.parameters} == {
        "optimizer": Word("sgd"),
        "dropout": 0.1,
        "weight_decay": 1e-4,
        "warmup": None,  # "none" is no number: not known
        "nesterov": None,
    }


@pytest.mark.parametrize(
    ("run_id", "status", "val_loss"),
    [
        ("plain", RunStatus.SUCCEEDED, 0.25),
        ("diverged", RunStatus.DIVERGED, None),
        ("failed", RunStatus.FAILED, None),  # its gauge shows 0.0, but no epoch was finished
        ("killed", RunStatus.OOM_KILLED, 0.25),
        ("restarted", RunStatus.STOPPED, 0.25),  # the first attempt said "failed"
        ("silent", RunStatus.SUCCEEDED, 0.25),  # no status, but all epochs
        ("vanished", RunStatus.FAILED, 0.25),  # no status, one epoch of three
    ],
)
def test_how_a_run_ended(runs, run_id, status, val_loss):
    assert (runs[run_id].status, runs[run_id].outcome.val_loss) == (status, val_loss)


def test_convergence_is_what_the_job_says(runs):
    assert runs["plain"].outcome.converged is True
    assert runs["failed"].outcome.converged is False
    assert runs["silent"].outcome.converged is None


def test_runs_that_cannot_be_used_are_skipped_with_a_reason(reading):
    reasons = {skip.run_id: skip.reason for skip in reading().skipped}
    assert set(reasons) == {"straddling", "text", "twice"}
    assert "started before the window" in reasons["straddling"]
    assert "'auto'" in reasons["text"]
    assert "2 different configurations" in reasons["twice"]


def test_first_contact_takes_a_handful_of_requests(reading):
    first = reading()
    assert first.complete
    assert first.requests <= 12
    assert first.seconds > 0


def test_nothing_new_takes_one_request(reading, history):
    first = reading(until=5)
    again = reading(until=5.1, watermark=(first.watermark - history.since) / HOUR)
    assert (again.runs, again.skipped, again.requests) == ((), (), 1)
    assert again.watermark == first.watermark


def test_only_new_runs_are_read_again(reading, history):
    first = reading(until=2)
    assert [run.run_id for run in first.runs][-1] == "pair"
    second = reading(until=5, watermark=(first.watermark - history.since) / HOUR)
    everything = [run.run_id for run in first.runs] + [run.run_id for run in second.runs if run not in first.runs]
    assert everything == [run.run_id for run in reading(until=5).runs]
    assert "plain" not in [run.run_id for run in second.runs]


def test_a_run_that_ended_just_now_is_found_and_the_watermark_stays_behind_it(reading, history):
    found = reading(until=(5400 + 900 + 60) / HOUR)  # its series are still within Prometheus' look-back
    assert found.runs[-1].run_id == "pair"
    assert found.watermark - history.since == pytest.approx(5400 + 60)


def test_watermark_stays_before_a_run_that_may_still_go_on(reading, history):
    # "slow" reports every two minutes; its last report, 400 s ago, is within four of these.
    late = reading(until=6.0, watermark=4.6)
    assert late.runs == ()
    over = reading(until=6.03, watermark=4.6)  # another 108 s later it is
    assert [run.run_id for run in over.runs] == ["slow"]
    assert over.watermark <= history.since + 6.03 * HOUR - 900


def test_first_contact_with_an_empty_history_has_no_watermark(reading):
    nothing = reading(identity=Identity("digits", "cnn", "jax"))
    assert (nothing.runs, nothing.watermark, nothing.complete, nothing.requests) == ((), None, True, 1)


def test_a_watermark_ahead_of_the_clock_stays(reading, history):
    assert reading(until=5, watermark=7).watermark == history.since + 7 * HOUR


def test_quotes_and_backslashes_in_labels_are_found(reading, history):
    truth = next(t for t in history.runs if t.identity != DIGITS)
    (run,) = reading(identity=truth.identity).runs
    assert (run.run_id, run.identity, run.outcome.samples) == (truth.run_id, truth.identity, 90000)


@PROMETHEUS
def test_a_rejected_query_gives_the_reason_of_the_server(history):
    from jpo.errors import TelemetryError
    from jpo.telemetry.prometheus.client import Client

    with Client(Endpoint(history.url)) as client, pytest.raises(TelemetryError, match="parse error") as caught:
        client.query("up{", at=history.since)
    assert caught.value.code == "JPO-E105"


@PROMETHEUS
def test_a_long_query_travels_in_the_body(history):
    from jpo.telemetry.prometheus.client import Client

    with Client(Endpoint(history.url)) as client:
        rows = client.query(f'vector(1) or up{{job="{"x" * 100_000}"}}', at=history.since)
    assert [row.value for row in rows] == [1.0]


def test_a_wrong_route_prefix_is_named(history):
    from jpo.errors import TelemetryError

    source = Endpoint(history.url + "/wrong")
    with pytest.raises(TelemetryError, match="route prefix") as caught:
        finished_runs(source, DIGITS, since=0, until=1, watermark=None)
    assert caught.value.code == "JPO-E104"


def test_the_slope_of_a_learning_curve_comes_from_the_samples_of_its_loss(serve, history):
    begin, labels = history.since, 'run_id="learner",dataset="digits",model="mlp",framework="pytorch",job="train",instance="a:1"'
    lines = []
    for seconds in range(0, 2001, 20):  # an epoch each 100 s
        epoch = seconds // 100
        values = {"jpo_run_info": 1, "jpo_samples_total": 100 * seconds, "jpo_epoch": epoch, "jpo_run_start_time_seconds": begin}
        values |= {"jpo_val_loss": epoch**-0.2} if epoch else {}
        values |= {"jpo_run_end_time_seconds": begin + seconds} if seconds == 2000 else {}
        lines += [f"{name}{{{labels}}} {value!r} {begin + seconds:.3f}\n" for name, value in values.items()]
    source, mlp = Endpoint(serve("".join(lines))), Identity("digits", "mlp", "pytorch")
    (run,) = finished_runs(source, mlp, since=begin - HOUR, until=begin + HOUR, watermark=None).runs
    assert run.outcome.loss_slope == pytest.approx(-0.2, abs=0.01)
    assert run.outcome.loss_slope_error < 0.01
