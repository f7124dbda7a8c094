"""A learnt agent on disk: safetensors sealed by a hash, and in the header what it decides. Loading runs no code."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load

from jpo.agent.sealed import seal, unseal
from jpo.errors import StoreError, UsageError, quoted, words_of
from jpo.files.reading import contents, json_object
from jpo.plugins.cluster.agents.base import LearningAgent
from jpo.plugins.cluster.agents.reserving import Reserving
from jpo.plugins.cluster.environment.episode import PAIRS, EpisodeOptions
from jpo.plugins.cluster.environment.observation import FIGURES, OF_A_JOB

SCHEMA = f"jpo-cluster-1:{','.join((*FIGURES, *OF_A_JOB))}"
"""Changes with what an agent sees: weights of another one would see other things."""
SHIPPED, FOR_GPUS = Path("shipped"), Path(__file__).parent / "weights" / "gpus.safetensors"  # its name, and where it is
MOST_BYTES = 1 << 28
MOST_SLOTS = 4096
"""Slots, and width of networks, of a model that is read."""
KINDS = ("cross-entropy", "reinforce", "actor-critic")


def new_agent(
    kind: str, options: EpisodeOptions, *, hidden: int = 32, lr: float = 1e-3, gamma: float = 1.0, seed: int = 0
) -> LearningAgent:
    """An agent that has learnt nothing yet; `kind`: of KINDS. Raises UsageError: JPO-E743, it needs torch, which is missing."""
    if kind == "cross-entropy":
        return Reserving(options, hidden=hidden, lr=lr, gamma=gamma, seed=seed)
    try:
        import torch
    except ImportError as error:
        finding, remedy = "needs torch, which is not installed", 'pip install "jpo[cluster,learn]"'
        raise UsageError("the agent", finding, remedy, code="JPO-E743") from error
    torch.use_deterministic_algorithms(True)
    from jpo.plugins.cluster.agents.actor_critic import ActorCritic
    from jpo.plugins.cluster.agents.reinforce import Reinforce

    return (Reinforce if kind == "reinforce" else ActorCritic)(options, hidden=hidden, lr=lr, gamma=gamma, seed=seed)


def to_bytes(agent: LearningAgent, kind: str) -> bytes:
    options = agent.options
    header = {
        "schema": SCHEMA,
        "kind": kind,
        "mode": options.mode,
        "slots": str(options.slots),
        "order": options.order,
        "resources": options.resources,
        "void": str(int(options.void)),
        "pairs": ",".join(f"{job}-{resource}" for job, resource in options.pairs),
        "hidden": str(agent.hidden),
        "lr": repr(agent.lr),
        "gamma": repr(agent.gamma),
    }
    return seal(agent.weights(), header)


def read_agent(path: Path, *, seed: int = 0) -> tuple[LearningAgent, str]:
    """A learnt agent and its kind. Raises UsageError: JPO-E747, the file is no agent, or one of another version."""
    header, data = _kept(path)
    try:
        kind = header["kind"]
        if kind not in KINDS:
            raise ValueError(f"kind {quoted(kind)} is unknown")
        rates = {name: float(header[name]) for name in ("lr", "gamma")}
        agent = new_agent(kind, _options(header), hidden=int(header["hidden"]), **rates, seed=seed)
        agent.load(_weights(data))
    except (KeyError, ValueError, SafetensorError) as error:
        raise foreign(path, f"does not fit ({words_of(error)})") from error
    return agent, kind


def load_weights(agent: LearningAgent, path: Path) -> None:
    """Give a user's agent the weights that it kept; UsageError JPO-E747 as above."""
    _, data = _kept(path)
    try:
        agent.load(_weights(data))
    except (KeyError, ValueError, SafetensorError) as error:
        raise foreign(path, f"does not fit ({words_of(error)})") from error


def _weights(data: bytes) -> dict[str, NDArray[np.float32]]:
    weights = load(data)
    if not all(np.isfinite(values).all() for values in weights.values()):
        raise ValueError("a weight is not finite")
    return weights


def _options(header: Mapping[str, str]) -> EpisodeOptions:
    pairs = tuple(pair for pair in PAIRS if "-".join(pair) in header["pairs"].split(","))
    mode, slots = header["mode"], int(header["slots"])
    if not (slots <= MOST_SLOTS and 1 <= int(header["hidden"]) <= MOST_SLOTS):
        raise ValueError("its header says nothing that could be decided")
    options = {"order": header["order"], "resources": header["resources"], "void": header["void"] == "1"}
    return EpisodeOptions(mode=mode, slots=slots, pairs=pairs, **options)  # type: ignore[arg-type]


def _kept(path: Path) -> tuple[Mapping[str, str], bytes]:
    """The header of a model that was learnt with these observations, and the whole file."""
    data = contents(FOR_GPUS if path == SHIPPED else path, MOST_BYTES, lambda finding: foreign(path, finding))
    size = int.from_bytes(data[:8], "little")
    try:
        found = json_object(data[8 : 8 + size]).get("__metadata__", {}) if 0 < size <= len(data) - 8 else {}
    except ValueError as error:
        raise foreign(path, "is not a file of weights") from error
    if not (isinstance(found, dict) and all(isinstance(value, str) for value in found.values())):
        raise foreign(path, "is not a file of weights")
    if "jpo" in found:
        try:
            found = unseal(data)[1]  # those of earlier versions have no hash
        except StoreError as error:
            raise foreign(path, error.finding) from error
    if "schema" not in found:
        raise foreign(path, "is not a model of the cluster lab")
    if found["schema"] != SCHEMA:
        raise foreign(path, "was learnt with other observations than this version has")
    return found, data


def foreign(path: Path, finding: str) -> UsageError:
    return UsageError(str(path), finding, "learn anew: jpo cluster train", code="JPO-E747")
