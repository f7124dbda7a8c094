"""What runs report about themselves."""

from __future__ import annotations

import math

from jpo.errors import TelemetryError
from jpo.telemetry.prometheus.answers import AnswerRow
from jpo.telemetry.prometheus.cluster import Pod
from jpo.telemetry.prometheus.reported import descriptions, endings, values


def row(value: float, run_id: str = "r", **labels: str) -> AnswerRow:
    return AnswerRow({"run_id": run_id, **labels}, ((0.0, value),))


def test_a_description_has_configuration_status_and_pods(scope_on):
    info = {"run_id": "r", "batch_size": "64", "namespace": "ml", "pod": "p", "container": "trainer"}
    description = descriptions(scope_on({"info": [(info, 1.0)], "ending": [({"run_id": "r", "status": "failed"}, 1.0)]}), ["r"])[
        "r"
    ]
    assert (description.configurations, description.endings) == ({(("batch_size", "64"),)}, {"failed"})
    assert description.pods == {Pod("ml", "p"): "trainer"}


def test_of_two_processes_the_latest_report_counts(scope_on):
    samples = [({"run_id": "r"}, [(1.0, 0.9), (5.0, 0.3)]), ({"run_id": "r"}, [(2.0, 0.8), (9.0, 0.5)])]
    scope = scope_on({"jpo_val_loss": samples})
    assert values(scope, [("val_loss", row(0.3)), ("val_loss", row(0.5))]) == {"r": {"val_loss": 0.5}}


def test_equal_reports_and_equal_nan_cost_no_samples(scope_on):
    scope = scope_on()
    found = values(
        scope, [("samples", row(64.0)), ("samples", row(64.0)), ("converged", row(math.nan)), ("converged", row(math.nan))]
    )
    assert found["r"]["samples"] == 64
    assert scope.client.asked == []


def test_a_loss_that_is_no_longer_stored_was_nan(scope_on):
    scope = scope_on({"val_loss": [({"run_id": "r"}, 30.0)]})
    assert math.isnan(values(scope, [("val_loss", row(0.4))])["r"]["val_loss"])


def test_a_server_that_stores_nan_does_not_know_the_function(scope_on):
    scope = scope_on()

    def refuse(promql: str, at: float, *, since: float | None = None) -> list[AnswerRow]:
        raise TelemetryError("server", "unknown function", code="JPO-E105")

    scope.client.query = refuse
    assert values(scope, [("val_loss", row(0.4))]) == {"r": {"val_loss": 0.4}}


def test_of_two_statuses_the_one_that_was_reported_last_counts(scope_on):
    samples = [
        ({"run_id": "r", "status": "failed"}, [(1.0, 1.0), (9.0, 0.0)]),
        ({"run_id": "r", "status": "succeeded"}, [(5.0, 1.0)]),
    ]
    scope = scope_on({"jpo_run_status": samples})
    assert endings(scope, {"r": {"failed", "succeeded"}, "s": {"stopped"}}) == {"r": {"succeeded"}, "s": {"stopped"}}


def test_two_statuses_at_once_both_count(scope_on):
    samples = [
        ({"run_id": "r", "status": "failed"}, [(1.0, 1.0), (9.0, 1.0)]),
        ({"run_id": "r", "status": "succeeded"}, [(5.0, 1.0), (8.0, 1.0)]),
    ]
    assert endings(scope_on({"jpo_run_status": samples}), {"r": {"failed", "succeeded"}}) == {"r": {"failed", "succeeded"}}
