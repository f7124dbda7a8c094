"""Ids of the runs that reported in a window: cheap to ask, no matter what was read before.

Runs become visible late: behind a backlog of remote write, while a store gateway is away, after a Pushgateway comes back, from a
machine whose clock is slow. By their times they would never be seen, since younger runs moved the watermark past them; by
their ids they are.
"""

from __future__ import annotations

from jpo.errors import TelemetryError
from jpo.http.answers import TooMuch
from jpo.telemetry import contract
from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.cluster import NO_INDEX
from jpo.telemetry.prometheus.scope import Scope


def reported(scope: Scope, begin: float) -> frozenset[str]:
    """The ids of the workload's runs that reported since `begin`, unix seconds; of earlier ones, too, where an index is coarse.

    One request to the index, which reads no sample; a second one, which does, where the server or a proxy withholds the index.
    """
    info = scope.names.metric(contract.RUN_INFO) + queries.selector(scope.identity, names=scope.names)
    run = scope.names.label("run_id")
    try:
        return frozenset(scope.client.label_values(run, info, begin, scope.until)) - {""}
    except TelemetryError as error:
        if error.code not in NO_INDEX or isinstance(error, TooMuch):
            raise
    asked = {"run": f"max by ({run}) (last_over_time({info}{queries.window(begin, scope.until)}))"}
    return frozenset(row.labels.get("run_id", "") for _, row in scope.ask_all(asked)) - {""}
