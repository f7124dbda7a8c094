"""Installations: clusters whose jobs all differ from what the simulator draws, in the same way job after job.

The belief rests on the simulator, so it is blind to what an installation adds: each new job is taken for one of the simulator's
again. Real runs of earlier jobs show it. `outside` bends the truth of simulated jobs accordingly, for practice and comparisons.
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from jpo.records import Candidates, Draws, Floats
from jpo.simulate.jobs import WIDEST
from jpo.simulate.knobs import FEATURES, LENGTH, LN2, Knobs, knobs_of

Kind = Literal["none", "host-memory", "slow-loaders", "slow-links", "batch-limit", "warped"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""`none`: all is as the simulator draws it."""

_JOB_ROOM, _LEAST_ROOM = 0.25, 0.1
"""Doublings: how much the room of one job differs from the installation's (standard deviation), and the least that is left."""
_JOB_SLOPE = 0.1
"""Standard deviation of the slope of one job around the installation's."""
_JOB_BEND = 0.4
"""Part of the bends that each job has of its own, relative to the shared one."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One cluster, and how its jobs differ from the simulator's. All ranges are assumed.

    Attributes:
        kind: what differs:
            host-memory   batches in flight (loader workers x batch per GPU) beyond `room` exceed the host's memory: the run fails
            batch-limit   a batch per GPU beyond `room` exceeds the GPU's memory: the run fails
            slow-loaders  samples per second asked of each CPU beyond `room` do not come: GPUs and larger batches bring nothing
            slow-links    GPUs beyond `node` bring nothing, or slow down
            warped        log time is stretched and bent over all knobs
        room: in doublings of today's; below 0 it is exceeded today (slow-loaders only).
        slope: doublings of time lost per doubling beyond the room or node; 1: nothing is gained.
        node: GPUs that work together well.
        batch_share: by how many doublings a doubling of the batch size raises the demand on loaders.
        stretch, bend: factor of log time, and standard deviation of a smooth function added to it.
        seed: of that function.
    """

    kind: Kind
    room: float = 0.0
    slope: float = 1.0
    node: float = 1.0
    batch_share: float = 0.5
    stretch: float = 1.0
    bend: float = 0.0
    seed: int = 0


AS_SIMULATED = Installation("none")


def draw_installation(rng: np.random.Generator, kind: Kind | None = None) -> Installation:
    """A random installation; None: any kind but `none`."""
    kind = KINDS[1 + int(rng.integers(len(KINDS) - 1))] if kind is None else kind
    slow_loaders = kind == "slow-loaders"
    return Installation(
        kind,
        room=float(rng.uniform(-0.5, 0.7) if slow_loaders else rng.uniform(0.2, 1.2)),
        slope=float(rng.uniform(0.8, 1.2) if slow_loaders else rng.uniform(0.9, 1.7)),
        node=float(2.0 ** rng.choice((0, 1, 2), p=(0.5, 0.3, 0.2))),
        batch_share=float(rng.uniform(0.3, 0.8)),
        stretch=float(np.exp(rng.uniform(np.log(0.6), np.log(1.6)))),
        bend=float(rng.uniform(0.2, 0.5)),
        seed=int(rng.integers(2**31)),
    )


def outside(installation: Installation, candidates: Candidates, truth: Draws, rng: np.random.Generator) -> Draws:
    """The truth of jobs in an installation.

    `truth`: what the simulator drew on the candidates, shape (J, K); `rng`: how single jobs differ; the installation itself is
    the same for all of them. The result has shape (J, K), the current column 0 as before; no installation makes it fail. The
    rest of `truth` is shared, not copied.
    """
    knobs, jobs = knobs_of(candidates), len(truth.log_time)
    match installation.kind:
        case "none":
            return truth
        case "host-memory" | "batch-limit":
            room = np.maximum(installation.room + _JOB_ROOM * rng.standard_normal((jobs, 1)), _LEAST_ROOM)
            return replace(truth, fails=truth.fails | (_in_flight(installation, knobs) > room))
        case "slow-loaders" | "slow-links":
            loaders = installation.kind == "slow-loaders"
            served = installation.room + _JOB_ROOM * rng.standard_normal((jobs, 1)) if loaders else None
            beyond = _beyond(installation, knobs, served)
            slope = installation.slope + _JOB_SLOPE * rng.standard_normal((jobs, 1))
            waits = LN2 * slope * (beyond - beyond[:, [knobs.current]])  # (J, K)
            idle = np.clip(truth.log_utilisation - waits, -WIDEST, WIDEST)
            if served is not None and truth.loader_share is not None:
                truth = replace(truth, loader_share=np.maximum(truth.loader_share, np.exp2(-np.maximum(served[:, 0], 0.0))))
            return _lasting(replace(truth, log_utilisation=idle), truth.log_time + waits)
        case "warped":
            shared = _bend(knobs, 1, np.random.default_rng(installation.seed))
            bends = installation.bend * (shared + _JOB_BEND * _bend(knobs, jobs, rng))
            return _lasting(truth, installation.stretch * truth.log_time + bends)


def _lasting(truth: Draws, log_time: Floats) -> Draws:
    """The same jobs with other durations, (J, K), for the same work."""
    slower = np.clip(log_time, -WIDEST, WIDEST) - truth.log_time
    speed = None if truth.log_throughput is None else truth.log_throughput - slower
    return replace(truth, log_time=truth.log_time + slower, log_throughput=speed)


def _in_flight(installation: Installation, knobs: Knobs) -> Floats:
    """Doublings of what must fit into memory, (K,): the batch of a GPU, or as many of them as loaders prefetch.

    There is a loader for each CPU; where CPUs come with the node, there are as many for each GPU as today.
    """
    per_gpu = np.asarray(knobs.batch - _gpus(knobs))
    if installation.kind == "batch-limit":
        return per_gpu
    return np.asarray(per_gpu + _cpus(knobs)) if knobs.resources.has_cpus else knobs.batch


def _beyond(installation: Installation, knobs: Knobs, served: "Floats | None") -> Floats:
    """Doublings beyond what the node, or its loaders, can do, (J, K) or (1, K).

    `served`: doublings of today's demand that loaders can serve, (J, 1); None: the node's links are meant.

    Loaders are asked for samples per second: by GPUs in proportion, by larger batches less; CPUs share the work.
    """
    if served is None:
        return np.asarray(np.maximum(np.log2(np.maximum(knobs.resources.gpus, 1.0)) - np.log2(installation.node), 0.0))[None, :]
    asked = np.maximum(_gpus(knobs), installation.batch_share * knobs.batch) - (_cpus(knobs) if knobs.resources.has_cpus else 0.0)
    return np.asarray(np.maximum(asked - served, 0.0))


def _gpus(knobs: Knobs) -> Floats:
    """Doublings of today's number of GPUs, (K,)."""
    gpus = np.log2(np.maximum(knobs.resources.gpus, 1.0))
    return np.asarray(gpus - gpus[knobs.current])


def _cpus(knobs: Knobs) -> Floats:
    """Doublings of today's number of CPUs, (K,)."""
    cpus = np.log2(knobs.resources.cpus)
    return np.asarray(cpus - cpus[knobs.current])


def _bend(knobs: Knobs, jobs: int, rng: np.random.Generator) -> Floats:
    """Smooth random functions of doublings from today, of variance 1 but 0 there, (jobs, K).

    Source: Rahimi and Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007.
    """
    points = np.stack((knobs.batch, knobs.rate, knobs.layers, knobs.epochs, _gpus(knobs), _cpus(knobs)))  # (knobs, K)
    frequencies = rng.normal(0.0, 1.0 / LENGTH, (FEATURES, len(points)))
    phases = rng.uniform(0.0, 2 * np.pi, (FEATURES, 1))
    features = np.sqrt(2.0 / FEATURES) * np.cos(frequencies @ points + phases)  # (features, K)
    return np.asarray(rng.normal(size=(jobs, FEATURES)) @ (features - features[:, [knobs.current]]))
