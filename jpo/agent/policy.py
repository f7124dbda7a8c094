"""Actor and critics in numpy: all that a suggestion needs. Imports no torch; gives what the networks of networks.py give.

A policy says of itself whether it passed the release test; one that did not may be read and compared, but does not decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jpo.agent.sealed import seal, unseal
from jpo.agent.state import SCHEMA, WIDTH
from jpo.errors import StoreError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from jpo.agent.state import Features
    from jpo.records import Bools, Floats

    Weights = Mapping[str, NDArray[np.float32]]

FORMAT = "jpo policy 1"
HIDDEN = 64
SHIPPED = Path(__file__).with_name("weights") / "policy.safetensors"
REMEDY = "reinstall jpo, or make it anew with `jpo learn --pretrain`; without it the belief rule decides"

LAYERS = ((WIDTH, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 1))
SHAPES: Mapping[str, tuple[int, ...]] = {
    f"{net}.{kind}{i}": (*heads, *((n_in, n_out) if kind == "w" else (1, n_out)))
    for net, heads in (("actor", ()), ("critics", (2,)))
    for i, (n_in, n_out) in enumerate(LAYERS)
    for kind in ("w", "b")
}
"""Every tensor of a policy: actor.w0 (30, 64), actor.b0 (1, 64), ..., critics.w0 (2, 30, 64), ..."""


@dataclass(frozen=True, eq=False, slots=True)
class Policy:
    """A trained actor with its twin critics.

    Attributes:
        weights: tensors named and shaped as SHAPES says.
        released: settings of `explore` under which it passed the release test, and may decide.
        card: how it was made: command, seed and figures, for reports.
    """

    weights: Weights
    released: tuple[str, ...]
    card: Mapping[str, Any]

    def logits(self, features: Features) -> Floats:
        """The actor's preference for each candidate: (K, 30) -> (K,)."""
        return _forward(self.weights, "actor", features)[:, 0]

    def values(self, features: Features) -> Floats:
        """The smaller of the two critics' soft returns: (K, 30) -> (K,)."""
        both = _forward(self.weights, "critics", features[None])[..., 0]  # (2, K)
        smaller: Floats = both.min(axis=0)
        return smaller

    def pick(self, features: Features, allowed: Bools, rng: np.random.Generator | None) -> int:
        """The allowed candidate the actor likes best; with `rng`, drawn as the actor is stochastic."""
        logits = np.where(allowed, self.logits(features), -np.inf)
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


def save_policy(weights: Weights, *, released: Sequence[str], card: Mapping[str, Any]) -> bytes:
    """The file which `load_policy` reads; `card` must be JSON."""
    header = {"format": FORMAT, "schema": SCHEMA, "released": list(released), "card": dict(card)}
    return seal({name: np.ascontiguousarray(weights[name], dtype=np.float32) for name in SHAPES}, header)


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
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    if header.get("format") != FORMAT or header.get("schema") != SCHEMA or shapes != SHAPES:
        raise StoreError(place, "was made for another version of the agent", REMEDY, code="JPO-E602")
    weights = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
    if not all(np.isfinite(tensor).all() for tensor in weights.values()):
        raise StoreError(place, "holds weights that are not finite", REMEDY, code="JPO-E602")
    released, card = header.get("released"), header.get("card")
    if not isinstance(released, list) or not isinstance(card, dict):
        raise StoreError(place, "does not say whether it was released", REMEDY, code="JPO-E602")
    return Policy(weights, tuple(map(str, released)), card)
