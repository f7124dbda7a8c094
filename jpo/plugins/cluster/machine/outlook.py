"""Outlook: how far jobs will want more memory bandwidth than a processor has, as their phases say.

`phase_pack` puts a task where that is least over its next cycle of phases, and among equals where least is free: jobs whose busy
phases do not meet share a socket. Running jobs are taken to go on at full speed.
"""

from jpo.plugins.cluster.machine.occupancy import Need, Occupancy
from jpo.plugins.cluster.platform.platform import UNLIMITED

HORIZON_SECONDS = 3600.0
"""How far ahead is looked for a job without phases."""
SAMPLES = 16


def overload(state: Occupancy, place: int, need: Need) -> float:
    """Mean of the GB/s that would be wanted beyond limits if one more task ran with this as its main processor."""
    span = sum(seconds for seconds, _ in need.phases) or HORIZON_SECONDS
    beyond = 0.0
    for processor, count in state.cores_of(place, 1, need):
        limit = state.types[processor].bandwidth_gbps
        if state.is_gpu[processor] or limit == UNLIMITED:
            continue
        others = state.outlook(processor) if state.outlook else []
        for sample in range(SAMPLES):
            ahead = (sample + 0.5) * span / SAMPLES
            wanted = count * wanted_gbps(need, ahead)
            wanted += sum(held * wanted_gbps(other, position + ahead) for other, held, position in others)
            beyond += max(0.0, wanted - limit)
    return beyond / SAMPLES


def wanted_gbps(need: Need, position: float) -> float:
    """What each core of a job wants so many seconds after its start, at full speed."""
    if not need.phases:
        return need.bandwidth_gbps
    position %= sum(seconds for seconds, _ in need.phases)
    for seconds, gbps in need.phases:
        if position < seconds:
            return gbps
        position -= seconds
    return need.phases[-1][1]
