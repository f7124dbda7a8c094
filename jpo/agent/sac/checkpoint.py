"""Checkpoint of the learning agent: bytes and back, so that it goes on exactly where it stopped. Numbers and JSON, no pickle."""

from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from jpo.agent.change_detection import Chart
from jpo.agent.policy import SHAPES
from jpo.agent.sac.candidate_set import Learner, with_optimiser
from jpo.agent.sac.fork_replay import ForkReplay
from jpo.agent.sac.learn import AgentState, WorkloadProgress
from jpo.agent.sac.replay_buffer import ReplayBuffer, Ring
from jpo.agent.sealed import FORMAT, PLACE, REMEDY, seal, unseal_agent
from jpo.agent.state import SCHEMA, SHORTLIST
from jpo.errors import StoreError

Arrays = dict[str, NDArray[Any]]
_Replay = TypeVar("_Replay", bound=Ring)


def save_checkpoint(state: AgentState) -> bytes:
    """Checkpoint: everything that the next update depends on. The replays are cut to what is filled."""
    arrays: Arrays = {}
    for i, learner in enumerate(state.learners):
        arrays |= {f"online{i}.{name}": _numpy(value) for name, value in learner.critics.items()}
        arrays |= {f"target{i}.{name}": _numpy(value) for name, value in learner.targets.items()}
        for name, parameter in learner.critics.items():  # Adam's step count is that of its updates since the optimiser began
            moved = learner.optimiser.state.get(parameter, {})
            arrays |= {f"{moment}{i}.{name}": _numpy(moved[moment]) for moment in ("exp_avg", "exp_avg_sq") if moved}
    replays: dict[str, Ring] = {"real": state.real, "simulated": state.simulated, "forks": state.forks}
    for kind, replay in replays.items():
        arrays |= {f"{kind}.{name}": array[: replay.size] for name, array in replay.arrays.items()}
    header = {
        "format": FORMAT,
        "schema": SCHEMA,
        "updates": [learner.updates for learner in state.learners],
        "progress": {name: [progress.runs, progress.history] for name, progress in state.progress.items()},
        "charts": {name: [chart.above, chart.below] for name, chart in state.charts.items()},
        "resets": state.resets,
        "rng": state.rng.bit_generator.state,
        "replays": {kind: [replay.capacity, replay.size, replay.written] for kind, replay in replays.items()},
    }
    return seal({name: np.ascontiguousarray(array) for name, array in arrays.items()}, header)


def load_checkpoint(data: bytes) -> AgentState:
    """Learning agent from what `save_checkpoint` wrote.

    Raises StoreError: JPO-E601 if it is damaged; JPO-E603 if another version of the agent wrote it.
    """
    return agent_of(*unseal_agent(data))


def agent_of(tensors: Arrays, header: dict[str, Any]) -> AgentState:
    """The same of an agent that was unsealed."""
    try:
        learners = [_learner(tensors, i, int(updates)) for i, updates in enumerate(header["updates"])]
        if not learners or min(learner.updates for learner in learners) < 0:
            raise ValueError("no networks")
        rng = np.random.default_rng()
        rng.bit_generator.state = header["rng"]
        numbers = header["replays"]
        real, simulated = (_filled(ReplayBuffer(numbers[kind][0]), kind, tensors, numbers) for kind in ("real", "simulated"))
        forks = _filled(ForkReplay(numbers["forks"][0]), "forks", tensors, numbers)
        progress = {name: WorkloadProgress(int(runs), str(history)) for name, (runs, history) in header["progress"].items()}
        charts = {name: Chart(float(above), float(below)) for name, (above, below) in header["charts"].items()}
        return AgentState(learners, real, simulated, forks, rng, progress, charts, int(header["resets"]))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, MemoryError) as error:
        raise StoreError(PLACE, "lacks a part of what an agent consists of", REMEDY, code="JPO-E603") from error


def _learner(tensors: Arrays, i: int, updates: int) -> Learner:
    learner = with_optimiser(_weights(tensors, f"online{i}"), _weights(tensors, f"target{i}"))
    learner.updates = updates
    if updates:
        moments = {kind: _weights(tensors, f"{kind}{i}") for kind in ("exp_avg", "exp_avg_sq")}
        for name, parameter in learner.critics.items():
            of_it = {kind: values[name] for kind, values in moments.items()}
            learner.optimiser.state[parameter] = {"step": torch.tensor(float(updates)), **of_it}
    return learner


def _weights(tensors: Arrays, kind: str) -> dict[str, torch.Tensor]:
    """One tensor for each of SHAPES. Torch does not check an optimiser's moments: of another shape they would end the process."""
    found = {name: tensors[f"{kind}.{name}"] for name in SHAPES}
    for name, array in found.items():
        if array.shape != SHAPES[name] or array.dtype != np.float32 or not np.isfinite(array).all():
            raise ValueError("weights of other networks")
    return {name: torch.from_numpy(array.copy()) for name, array in found.items()}


def _filled(replay: _Replay, kind: str, tensors: Arrays, numbers: dict[str, list[int]]) -> _Replay:
    _, replay.size, replay.written = map(int, numbers[kind])
    if not 0 <= replay.size <= replay.capacity or replay.written < replay.size:
        raise ValueError("a replay that cannot be")
    for name, array in replay.arrays.items():
        array[: replay.size] = tensors[f"{kind}.{name}"]
        if name == "executed" and not ((array >= 0) & (array < SHORTLIST)).all():
            raise ValueError("a run of a candidate that was not seen")
    return replay


def _numpy(tensor: torch.Tensor) -> NDArray[Any]:
    return tensor.detach().numpy()
