"""A pod whose samples Prometheus has: cAdvisor's series of the last minutes, of which each new sample counts once."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from jpo.errors import UsageError
from jpo.http.endpoint import Endpoint
from jpo.plugins.phases.following.follower import FollowTarget, UsageSample
from jpo.plugins.phases.recorded import traces_of
from jpo.project.load import LoadedSettings
from jpo.project.running import MOST_SECONDS
from jpo.project.sources import names_of
from jpo.records import Identity
from jpo.telemetry.outcome import MeasuredRun, MeasuredValues
from jpo.telemetry.prometheus import cluster, time_series
from jpo.telemetry.prometheus.cluster import Pod
from jpo.telemetry.prometheus.scope import Scope

LOOK_BACK_SECONDS = 600.0


class MeasuredPod:
    """A pod of an engine (`live`), by the samples of a server."""

    def __init__(self, live: FollowTarget, server: Endpoint, settings: LoadedSettings) -> None:
        self.name, self.first, self.least, self.held, self.give = live.name, live.first, live.least, live.held, live.give
        self._live, self._last = live, -inf
        self._server, self._names = replace(server, timeout_seconds=min(server.timeout_seconds, MOST_SECONDS)), names_of(settings)

    def samples(self) -> Sequence[UsageSample] | None:
        """TelemetryError: the server's."""
        from jpo.telemetry.prometheus.client import Client  # loads requests

        if self._live.samples() is None:
            return None
        with Client(self._server) as client:
            now = client.clock()
            scope = Scope(client, self._names, Identity("-", "-", "-"), now - LOOK_BACK_SECONDS, now, -inf)
            pods = (Pod(*self.name.split("/")),)
            run = MeasuredRun(self.name, scope.identity, {}, scope.begin, now, False, frozenset(), MeasuredValues(), pods=pods)
            series = time_series.read(scope, [run], cluster.labellings(scope, pods))
        try:
            (execution,) = traces_of([(self.name, series)], self.name).executions
        except UsageError:  # nothing of both was measured yet
            return ()
        new = [UsageSample(float(t), *map(float, used[:2])) for t, used in zip(execution.times, execution.values, strict=True)]
        new = [sample for sample in new if sample.t > self._last]
        self._last = new[-1].t if new else self._last
        return new
