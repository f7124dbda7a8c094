"""Checkpoint of the learning agent: bytes and back, so that it goes on exactly where it stopped. Numbers and JSON, no pickle."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from jpo.agent.change_detection import Chart
from jpo.agent.policy import SHAPES
from jpo.agent.sac.candidate_set import with_optimisers
from jpo.agent.sac.learn import AgentState
from jpo.agent.sac.networks import Tensors
from jpo.agent.sac.replay_buffer import ReplayBuffer
from jpo.agent.sealed import PLACE, REMEDY, seal, unseal
from jpo.agent.state import SCHEMA
from jpo.errors import StoreError

FORMAT = "jpo agent 2"

Arrays = dict[str, NDArray[Any]]


def save_checkpoint(state: AgentState) -> bytes:
    """Checkpoint: everything that the next update depends on. The replays are cut to what is filled."""
    learner = state.learner
    arrays: Arrays = {f"online.{name}": _numpy(value) for name, value in {**learner.actor, **learner.critics}.items()}
    arrays |= {f"target.{name}": _numpy(value) for name, value in learner.targets.items()}
    for optimiser, parameters in ((learner.actor_optimiser, learner.actor), (learner.critic_optimiser, learner.critics)):
        arrays |= _moments(optimiser, parameters)
    for kind, replay in (("real", state.real), ("simulated", state.simulated)):
        arrays |= {f"{kind}.{name}": array[: replay.size] for name, array in replay.arrays.items()}
    header = {
        "format": FORMAT,
        "schema": SCHEMA,
        "updates": learner.updates,
        "runs_learnt": state.runs_learnt,
        "history": state.history,
        "chart": [state.chart.above, state.chart.below],
        "resets": state.resets,
        "rng": state.rng.bit_generator.state,
        "replays": {k: [r.capacity, r.size, r.written] for k, r in (("real", state.real), ("simulated", state.simulated))},
    }
    return seal({name: np.ascontiguousarray(array) for name, array in arrays.items()}, header)


def load_checkpoint(data: bytes) -> AgentState:
    """Learning agent from what `save_checkpoint` wrote.

    Raises:
        StoreError: JPO-E601 if it is damaged; JPO-E603 if another version of the agent wrote it.
    """
    tensors, header = unseal(data)
    if header.get("format") != FORMAT or header.get("schema") != SCHEMA:
        raise StoreError(PLACE, "was written by another version of the agent", REMEDY, code="JPO-E603")
    try:
        return _state(tensors, header)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise StoreError(PLACE, "lacks a part of what an agent consists of", REMEDY, code="JPO-E603") from error


def _state(tensors: Arrays, header: dict[str, Any]) -> AgentState:
    online = {name: torch.from_numpy(tensors[f"online.{name}"].copy()) for name in SHAPES}
    actor = {name: value for name, value in online.items() if name.startswith("actor")}
    critics = {name: value for name, value in online.items() if name.startswith("critics")}
    targets = {name: torch.from_numpy(tensors[f"target.{name}"].copy()) for name in critics}
    learner = with_optimisers(actor, critics, targets)
    learner.updates = int(header["updates"])
    if learner.updates:
        _restore(learner.actor_optimiser, actor, tensors, learner.updates)
        _restore(learner.critic_optimiser, critics, tensors, learner.updates)
    rng = np.random.default_rng()
    rng.bit_generator.state = header["rng"]
    real, simulated = (_replay(kind, tensors, header["replays"][kind]) for kind in ("real", "simulated"))
    above, below = map(float, header["chart"])
    progress = int(header["runs_learnt"]), str(header["history"]), Chart(above, below), int(header["resets"])
    return AgentState(learner, real, simulated, rng, *progress)


def _moments(optimiser: torch.optim.Adam, parameters: Tensors) -> Arrays:
    """Adam's two moments per parameter; its step count is the learner's number of updates since the optimiser began."""
    return {
        f"{moment}.{name}": _numpy(optimiser.state[parameter][moment])
        for name, parameter in parameters.items()
        if parameter in optimiser.state
        for moment in ("exp_avg", "exp_avg_sq")
    }


def _restore(optimiser: torch.optim.Adam, parameters: Tensors, tensors: Arrays, steps: int) -> None:
    for name, parameter in parameters.items():
        moments = {moment: torch.from_numpy(tensors[f"{moment}.{name}"].copy()) for moment in ("exp_avg", "exp_avg_sq")}
        optimiser.state[parameter] = {"step": torch.tensor(float(steps)), **moments}


def _replay(kind: str, tensors: Arrays, numbers: list[int]) -> ReplayBuffer:
    capacity, size, written = numbers
    replay = ReplayBuffer(capacity)
    replay.size, replay.written = size, written
    for name, array in replay.arrays.items():
        array[:size] = tensors[f"{kind}.{name}"]
    return replay


def _numpy(tensor: torch.Tensor) -> NDArray[Any]:
    return tensor.detach().numpy()
