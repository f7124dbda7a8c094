"""Policy in numpy, actor and critics: all that a suggestion needs. Imports no torch; gives what the networks of networks.py give.

A policy says of itself whether it passed the release test; one that did not may be read and compared, but does not decide.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jpo.agent.sealed import seal, unseal
from jpo.agent.state import OWN, SCHEMA, WIDTH
from jpo.errors import StoreError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from jpo.agent.state import Features
    from jpo.records import Bools, Floats

    Weights = Mapping[str, NDArray[np.float32]]

FORMAT = "jpo policy 2"
HIDDEN = 64
SCORE = OWN.index("belief rule score")
MARGIN = 3.0
"""Nats; at SAC's temperature of 0.02 some 6% of an optimal run. Chosen among 0, 3 and 10 on validation jobs."""
SHIPPED = Path(__file__).with_name("weights") / "policy.safetensors"
REMEDY = "reinstall jpo, or make it anew with `jpo learn --pretrain`; without it the belief rule decides"

LAYERS = ((WIDTH, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 1))
SHAPES: Mapping[str, tuple[int, ...]] = {
    f"{net}.{kind}{i}": (*heads, *((n_in, n_out) if kind == "w" else (1, n_out)))
    for net, heads in (("actor", ()), ("critics", (2,)))
    for i, (n_in, n_out) in enumerate(LAYERS)
    for kind in ("w", "b")
}
"""Every tensor of one member: actor.w0 (WIDTH, 64), actor.b0 (1, 64), ..., critics.w0 (2, WIDTH, 64), ..."""


@dataclass(frozen=True, eq=False, slots=True)
class Policy:
    """A trained actor with its twin critics, or several from different seeds, which depart from the belief rule only together.

    Attributes:
        weights: of the first member, tensors named and shaped as SHAPES says; from them learning goes on.
        released: domains (settings of `explore`, scenarios) in which it passed the release test, and may decide.
        card: how it was made: command, seeds and figures, for reports.
        others: weights of the other members.
    """

    weights: Weights
    released: tuple[str, ...]
    card: Mapping[str, Any]
    others: tuple[Weights, ...] = ()

    @property
    def members(self) -> tuple[Weights, ...]:
        return (self.weights, *self.others)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the weights, by which the audit log names the policy."""
        digest = hashlib.sha256()
        for weights in self.members:
            for name in SHAPES:
                digest.update(weights[name].astype("<f4").tobytes())
        return digest.hexdigest()

    def logits(self, features: Features) -> Floats:
        """The actor's preference for each candidate, the mean over the members: (K, WIDTH) -> (K,)."""
        return np.asarray(np.mean([_forward(member, "actor", features)[:, 0] for member in self.members], axis=0))

    def values(self, features: Features) -> Floats:
        """The smaller of the two critics' soft returns, the mean over the members: (K, WIDTH) -> (K,)."""
        both = [_forward(member, "critics", features[None])[..., 0] for member in self.members]  # each (2, K)
        return np.asarray(np.mean([pair.min(axis=0) for pair in both], axis=0))

    def preferred(self, features: Features, allowed: Bools) -> Floats:
        """How much each candidate is preferred to the belief rule's choice, which has 0: (K, WIDTH) -> (K,).

        Of several members the one that likes a candidate least is asked, and MARGIN is taken off: they depart from the rule only
        where all of them would, and where it matters.

        Source: pessimism over an ensemble, An et al., "Uncertainty-Based Offline Reinforcement Learning with Diversified
        Q-Ensemble", NeurIPS 2021.
        """
        each = np.stack([_forward(member, "actor", features)[:, 0] for member in self.members])  # (members, K)
        rule = int(np.argmin(np.where(allowed, features[:, SCORE], np.inf)))
        preferred = (each - each[:, [rule]]).min(axis=0)
        if self.others:
            preferred[np.arange(len(preferred)) != rule] -= MARGIN
        return np.asarray(preferred)

    def pick(self, features: Features, allowed: Bools, rng: np.random.Generator | None) -> int:
        """The allowed candidate that is preferred most; with `rng`, drawn as the actor is stochastic."""
        logits = np.where(allowed, self.preferred(features, allowed), -np.inf)
        if rng is not None:
            logits = logits + rng.gumbel(size=len(logits))  # the largest is a draw from the softmax
        return int(np.argmax(logits))


def _forward(weights: Weights, net: str, x: Features) -> Floats:
    for i in range(len(LAYERS)):
        x = x @ weights[f"{net}.w{i}"] + weights[f"{net}.b{i}"]
        if i < len(LAYERS) - 1:
            x = np.maximum(x, 0)
    return x.astype(np.float64)


def mean_policy(policies: Sequence[Policy]) -> Policy:
    """The mean of the weights of one network at several late stages of its training, not released.

    Source: Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization", UAI 2018.
    """
    mean = {name: np.stack([policy.weights[name] for policy in policies]).mean(axis=0) for name in SHAPES}
    return Policy(mean, released=(), card={})


def ensemble(policies: Sequence[Policy]) -> Policy:
    """Policies of different seeds as one, not released. Their weights cannot be averaged: their units mean different things."""
    first, *others = (policy.weights for policy in policies)
    return Policy(first, released=(), card={}, others=tuple(others))


def save_policy(*members: Weights, released: Sequence[str], card: Mapping[str, Any]) -> bytes:
    """The file which `load_policy` reads; `card` must be JSON."""
    header = {"format": FORMAT, "schema": SCHEMA, "released": list(released), "card": dict(card)}
    named = {f"{i}.{name}": weights[name] for i, weights in enumerate(members) for name in SHAPES}
    return seal({name: np.ascontiguousarray(array, dtype=np.float32) for name, array in named.items()}, header)


def load_policy(source: bytes | Path = SHIPPED) -> Policy:
    """Read a policy.

    Raises:
        StoreError: JPO-E601 if it is missing, damaged or foreign; JPO-E602 if it was made for other features or networks.
    """
    place = str(source) if isinstance(source, Path) else "policy"
    try:
        data = source.read_bytes() if isinstance(source, Path) else source
    except OSError as error:
        raise StoreError(place, f"cannot be read ({error.strerror})", REMEDY, code="JPO-E601") from error
    tensors, header = unseal(data, place, REMEDY)
    members = len(tensors) // len(SHAPES)
    wanted = {f"{i}.{name}": shape for i in range(members) for name, shape in SHAPES.items()}
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    if header.get("format") != FORMAT or header.get("schema") != SCHEMA or not members or shapes != wanted:
        raise StoreError(place, "was made for another version of the agent", REMEDY, code="JPO-E602")
    weights = [{name: tensors[f"{i}.{name}"].astype(np.float32) for name in SHAPES} for i in range(members)]
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise StoreError(place, "holds weights that are not finite", REMEDY, code="JPO-E602")
    released, card = header.get("released"), header.get("card")
    if not isinstance(released, list) or not isinstance(card, dict):
        raise StoreError(place, "does not say whether it was released", REMEDY, code="JPO-E602")
    return Policy(weights[0], tuple(map(str, released)), card, tuple(weights[1:]))


def shipped_policy() -> Policy | None:
    """The policy that came with JPO; None where its file was taken out: then the belief rule decides, and the answer says so."""
    return load_policy() if SHIPPED.exists() else None
