"""The progress of a run that goes on, in both kinds of real server, and as `jpo watch` shows it."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace

import pytest

from jpo.__main__ import run
from jpo.http.endpoint import Endpoint
from jpo.plugins.launch.watching.sampled_progress import read_progress
from jpo.records import Identity
from jpo.telemetry.prometheus.names import Names

JOB = {"dataset": "digits", "model": "watched", "framework": "pytorch"}
SECONDS_PER_EPOCH = 300.0


@pytest.fixture(scope="module")
def base():
    return time.time() // 60 * 60


@pytest.fixture(scope="module")
def server(serve, base):
    return serve("".join(sorted(_lines(base), key=lambda line: line.split("{")[0])))


def _lines(base):
    """A run of 20 epochs since an hour, one that diverged, and another one beside it."""
    for run_id, loss in (("night-1", lambda epoch: 1 / epoch), ("bad", lambda epoch: math.nan), ("other", lambda epoch: 9.0)):
        labels = ",".join(f'{k}="{v}"' for k, v in {**JOB, "run_id": run_id, "job": "j", "instance": run_id}.items())
        for at in range(-3600, 1200, 30):
            epoch, moment = (at + 3600) // SECONDS_PER_EPOCH, base + at
            yield f'jpo_run_info{{{labels},batch_size="64",epochs="20",cpus="2"}} 1 {moment}\n'
            yield f"jpo_run_start_time_seconds{{{labels}}} {base - 3600} {moment}\n"
            yield f"jpo_epoch{{{labels}}} {epoch} {moment}\n"
            yield f"jpo_samples_total{{{labels}}} {1000 * (at + 3600) / SECONDS_PER_EPOCH} {moment}\n"
            if epoch:
                yield f"jpo_val_loss{{{labels}}} {'NaN' if math.isnan(loss(epoch)) else loss(epoch)} {moment}\n"


def sampled(server, base, run_id, **known):
    return read_progress(Endpoint(server), Identity(**JOB), run_id, base - 3600, names=Names(), **known)


def test_epochs_and_losses_are_read_as_they_were_sampled(server, base):
    found = sampled(server, base, "night-1")
    assert found.epochs[:2] == ((base - 3300, 1), (base - 3000, 2))
    assert found.curves["val_loss"][:3] == ((1, 1.0), (2, 0.5), (3, pytest.approx(1 / 3)))
    assert len(found.curves["val_loss"]) >= 12
    assert "val_accuracy" not in found.curves


def test_a_later_look_adds_to_an_earlier_one(server, base):
    whole = sampled(server, base, "night-1")
    half = replace(whole, epochs=whole.epochs[:9], curves={"val_loss": whole.curves["val_loss"][:9]}, until=base - 700)
    again = sampled(server, base, "night-1", known=half)
    assert again.curves == whole.curves
    assert [epoch for _, epoch in again.epochs] == [epoch for _, epoch in whole.epochs]


def test_watching_it_shows_its_curve_and_when_it_ends(server, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.ini").write_text(
        "[workload]\ndataset = digits\nmodel = watched\nframework = pytorch\n[t]\nbatch_size = 64\n"
    )
    (tmp_path / "jpo.toml").write_text(f'[prometheus]\nurl = "{server}"\ntimeout = "20s"\n[prices]\nusd_per_cpu_hour = 1\n')
    assert run(["watch", "night-1", "--once", "-o", "json"]) == 0
    state = json.loads(capsys.readouterr().out)
    assert state["source"] == "prometheus"
    assert state["curve"][:2] == [[1, 1.0], [2, 0.5]]
    assert state["total_seconds"]["mean"] == pytest.approx(20 * SECONDS_PER_EPOCH, rel=0.02)
    assert state["usd_in_all"]["mean"] == pytest.approx(2 * 20 * SECONDS_PER_EPOCH / 3600, rel=0.02)
    assert run(["watch", "-o", "json"]) == 0
    assert "night-1" in [each["run_id"] for each in json.loads(capsys.readouterr().out)["runs"]]


def test_a_run_that_is_not_there_has_no_progress(server, base):
    assert sampled(server, base, "nobody").epochs == ()


def test_a_loss_that_is_no_number_is_part_of_its_curve(server, base):
    """VictoriaMetrics stores no NaN: there the run has no losses."""
    assert all(math.isnan(value) for _, value in sampled(server, base, "bad").curves.get("val_loss", ()))
