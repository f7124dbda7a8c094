"""Progress of one run that goes on, as a server sampled it: when each epoch was done, and what its model was worth then.

Of an epoch that passed between two scrapes nothing is known. Samples of a long run are many: only what came since an earlier
look is asked for.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from jpo.http.endpoint import Endpoint
from jpo.records import QUALITIES, VAL_ACCURACY, Identity, Quality
from jpo.telemetry import contract
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.scope import Scope

MARGIN_SECONDS = 60.0
"""Asked for once more at each look: what was sampled last may not have been stored yet."""
LONGEST_SECONDS = 86400.0
"""Of its progress, read at once: samples are many, and the newest day tells how it goes."""
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class SampledProgress:
    """Progress of a run.

    Attributes:
        epochs: unix seconds at which each number of epochs was seen first, and the number; rising.
        curves: by quality of the model, epochs done and value; NaN: diverged.
        until: unix seconds of the look.
    """

    epochs: tuple[Point, ...] = ()
    curves: Mapping[str, tuple[Point, ...]] = field(default_factory=dict)
    until: float | None = None


NOTHING = SampledProgress()


def read_progress(
    source: Endpoint, identity: Identity, run_id: str, started_at: float, *, names: Names, known: SampledProgress = NOTHING
) -> SampledProgress:
    """The progress of a run up to now, added to what an earlier look found; TelemetryError JPO-E101 to E109, E113."""
    from jpo.telemetry.prometheus.client import Client  # loads requests

    with Client(source) as client:
        now = client.clock()
        begin = max(started_at, now - LONGEST_SECONDS, (known.until or 0.0) - MARGIN_SECONDS)
        scope = Scope(client, names, identity, begin, now, begin)
        epochs = _points(scope, contract.EPOCH, run_id)
        roles = [*zip(QUALITIES, (contract.VAL_LOSS, contract.VAL_ACCURACY), strict=True)]
        roles += [(names.own_metric, contract.OWN_METRIC)] if names.own_metric else []
        found = {quality.name: _by_epoch(_points(scope, role, run_id), epochs, quality) for quality, role in roles}
    firsts = {epoch: time for time, epoch in known.epochs}
    for time, epoch in epochs:
        firsts.setdefault(epoch, time)
    rising = sorted((time, epoch) for epoch, time in firsts.items() if epoch > 0)
    curves = {name: tuple(sorted({**dict(known.curves.get(name, ())), **new}.items())) for name, new in found.items()}
    return SampledProgress(tuple(rising), {name: curve for name, curve in curves.items() if curve}, now)


def _points(scope: Scope, role: str, run_id: str) -> list[Point]:
    """The samples of a run in a metric, in the order of time; of several processes the one that reported most."""
    longest: list[Point] = []
    for row in scope.samples(role, [run_id]):
        if row.labels.get("run_id") == run_id and len(points := list(row.points)) > len(longest):
            longest = points
    return sorted(longest)


def _by_epoch(values: list[Point], epochs: list[Point], quality: Quality) -> dict[float, float]:
    """By number of epochs done the last value that was seen then; before the first validation there is none."""
    times, found = [time for time, _ in epochs], dict[float, float]()
    for time, value in values:
        at = bisect_right(times, time) - 1
        unset = quality == VAL_ACCURACY and value == 0  # what a gauge shows before the first validation
        if at >= 0 and epochs[at][1] > 0 and not unset:
            found[epochs[at][1]] = value
    return found
