"""Runs that go on now, in both kinds of real server."""

from __future__ import annotations

import time

import pytest

from jpo.http.endpoint import Endpoint
from jpo.records import KUBERNETES, Identity
from jpo.telemetry.outcome import Own
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.running.ask import going_on

GIB = 2.0**30
DAY = 86400.0
CONFIGURED = {"batch_size": "64", "learning_rate": "0.01", "epochs": "10"}


@pytest.fixture(scope="module")
def base():
    """About now, unix seconds; the same in all processes that test."""
    return time.time() // 120 * 120


@pytest.fixture(scope="module")
def server(serve, base):
    return serve("".join(sorted(_lines(base), key=lambda line: line.split("{")[0])))


@pytest.fixture
def going(server):
    def going(model):
        found = going_on(Endpoint(server), Identity("digits", model, "pytorch"), names=Names())
        return {run.run_id.partition("@")[0]: run for run in found}

    return going


def _lines(base):
    def add(name, labels, value, begin=-7200.0, end=3600.0):
        shown = ",".join(f'{k}="{v}"' for k, v in labels.items())
        for i in range(int((end - begin) / 30) + 1):
            at = begin + 30 * i
            yield f"{name}{{{shown}}} {float(value(at) if callable(value) else value)!r} {base + at:.3f}\n"

    def run(run_id, model, *, start=-7200.0, until=3600.0, rate=100.0, ahead=0.0, epoch=None, **target):
        key = {
            "dataset": "digits",
            "model": model,
            "framework": "pytorch",
            "run_id": run_id,
            "job": "j",
            "instance": run_id,
            **target,
        }
        yield from add("jpo_run_info", {**key, **CONFIGURED}, 1, max(start, -7200), until)
        yield from add("jpo_run_start_time_seconds", key, base + start + ahead, max(start, -7200), until)
        yield from add("jpo_samples_total", key, lambda at: rate * (at - start) if rate else 5000, max(start, -7200), until)
        yield from add("jpo_epoch", key, epoch or (lambda at: (at - start) // 1440), max(start, -7200), until)

    def usage(pod):
        place = {"namespace": "ml", "pod": pod, "container": "trainer", "id": f"/{pod}"}
        yield from add("container_cpu_usage_seconds_total", place, lambda at: 3.0 * (at + 7200))
        yield from add("container_memory_working_set_bytes", place, 2 * GIB)
        yield from add("DCGM_FI_DEV_GPU_UTIL", {"exported_namespace": "ml", "exported_pod": pod, "UUID": f"G-{pod}"}, 70)

    def pod(name, model, owner=("Job", "nightly"), phase="Running"):
        place = {"namespace": "ml", "pod": name, "uid": f"u-{name}"}
        names = {"label_jpo_dataset": "Digits", "label_jpo_model": model, "label_jpo_framework": "PyTorch"}
        yield from add("kube_pod_labels", {**place, **names, "label_jpo_batch_size": "32", "label_jpo_dropout": "0.1"}, 1)
        yield from add("kube_pod_owner", {**place, "owner_kind": owner[0], "owner_name": owner[1]}, 1)
        yield from add("kube_pod_status_phase", {**place, "phase": phase}, 1)
        if phase == "Running":
            yield from add("kube_pod_start_time", place, base - 7200)
            yield from usage(name)

    yield from run("first", "scraped", namespace="ml", pod="first-x")
    yield from usage("first-x")
    yield from run("second", "scraped", start=-600.0)
    yield from run("old", "scraped", start=-20 * DAY)
    yield from run("in-gap", "scraped", until=-420.0)
    yield from run("gone", "scraped", until=-2400.0)
    yield from run("over", "scraped")
    over = {"dataset": "digits", "model": "scraped", "framework": "pytorch", "run_id": "over", "job": "j", "instance": "over"}
    yield from add("jpo_run_end_time_seconds", over, base - 100)
    yield from run("forgotten", "pushed", rate=0.0)
    yield from run("pushing", "pushed")
    yield from run("pushed-long-ago", "pushed")
    yield from add("push_time_seconds", {"run_id": "pushed-long-ago", "job": "j", "instance": "pushed-long-ago"}, base - 5000)
    yield from run("ahead", "astray", ahead=3 * 7200.0, epoch=-3.0)
    yield from pod("nightly-x", "labelled")
    yield from pod("queued-x", "labelled", owner=("Job", "queued"), phase="Pending")
    yield from pod("serving-x", "labelled", owner=("ReplicaSet", "serving"))


def test_runs_that_report_themselves(going, base):
    runs = going("scraped")
    assert set(runs) == {"old", "in-gap", "first", "second"}
    assert next(iter(runs)) == "old"
    first = runs["first"]
    assert first.parameters == {"batch_size": 64.0, "learning_rate": 0.01, "epochs": 10.0}
    assert (first.started_at, first.silent) == (base - 7200, False)
    assert first.elapsed_seconds == pytest.approx(time.time() - base + 7200, abs=5)
    assert first.samples_per_second == pytest.approx(100, rel=0.05)
    assert first.epochs_done == (time.time() - base + 7200) // 1440
    assert (first.cpu_cores, first.memory_gib, first.gpu_utilisation) == (pytest.approx(3.0, rel=0.05), 2.0, pytest.approx(0.7))
    assert runs["old"].elapsed_seconds == pytest.approx(20 * DAY, rel=0.01), "it is older than any window"
    assert runs["second"].samples_per_second == pytest.approx(100, rel=0.15)


def test_a_gap_between_scrapes_is_told_from_what_is_gone(going):
    runs = going("scraped")
    assert [run_id for run_id, run in runs.items() if run.silent] == ["in-gap"]
    assert not {"gone", "over"} & set(runs), "what was silent for a quarter of an hour does not go on"


def test_what_a_gateway_repeats_for_ever_does_not_go_on(going):
    assert set(going("pushed")) == {"pushing"}


def test_a_start_in_the_future_and_less_than_no_epoch_tell_nothing(going):
    ahead = going("astray")["ahead"]
    assert (ahead.started_at, ahead.epochs_done, ahead.samples is None) == (None, None, False)


def test_labelled_pods_go_on_without_progress_and_services_do_not(going, base):
    ((name, run),) = going("labelled").items()
    assert (name, run.source, run.parameters) == ("nightly", KUBERNETES, {"batch_size": 32.0})
    assert (run.started_at, run.epochs_done, run.samples) == (base - 7200, None, None)
    assert (run.cpu_cores, run.gpu_utilisation) == (pytest.approx(3.0, rel=0.05), pytest.approx(0.7))


def test_parameters_of_the_teams_own_are_seen_of_what_goes_on(server):
    names = Names(own=Own({"dropout": False}))
    (run,) = going_on(Endpoint(server), Identity("digits", "labelled", "pytorch"), names=names)
    assert run.parameters == {"batch_size": 32.0, "dropout": 0.1}


def test_nothing_goes_on_and_few_requests_say_so(server):
    assert going_on(Endpoint(server), Identity("digits", "none", "pytorch"), names=Names()) == ()
