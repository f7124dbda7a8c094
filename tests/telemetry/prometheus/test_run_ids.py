"""Which runs reported, by their ids alone."""

from __future__ import annotations

import pytest

from jpo.errors import TelemetryError
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.run_ids import reported


def test_the_index_is_asked_in_the_sites_names(scope_on):
    scope = scope_on(metrics=["r1", "", "r2"], names=Names.of({"jpo_run_info": "info"}, {"run_id": "run"}))
    assert reported(scope, 10.0) == {"r1", "r2"}
    assert scope.client.asked == ['run of info{dataset="digits",model="cnn",framework="pytorch"}']


@pytest.mark.parametrize("code", ["JPO-E101", "JPO-E104", "JPO-E105"])
def test_where_the_index_is_withheld_the_runs_themselves_are_asked(scope_on, code):
    scope = scope_on({"run": [({"run_id": "r1"}, 1.0), ({}, 1.0)]})

    def withheld(*_):
        raise TelemetryError("p", "no", code=code)

    scope.client.label_values = withheld
    assert reported(scope, 10.0) == {"r1"}
    assert "[9989999ms]" in scope.client.asked[0]


def test_trouble_is_passed_on(scope_on):
    scope = scope_on()

    def down(*_):
        raise TelemetryError("p", "down", code="JPO-E102")

    scope.client.label_values = down
    with pytest.raises(TelemetryError, match="down"):
        reported(scope, 10.0)
