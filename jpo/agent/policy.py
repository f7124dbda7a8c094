"""Policy in numpy: an ensemble of critics, anchored to the belief rule. All that a suggestion needs; imports no torch.

Each critic says how many runs a candidate saves against the belief rule's choice. The policy departs from the rule only where the
ensemble agrees. It says of itself whether it passed the release test; one that did not may be read and compared, but does not
decide.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jpo.agent.acquisition import WORTH
from jpo.agent.sealed import seal, unseal, widened_to_schema
from jpo.agent.state import OWN, SCHEMA, WIDTH, WITHOUT_PHASES, WITHOUT_QUEUE, Features
from jpo.errors import StoreError
from jpo.files.reading import contents
from jpo.records import Bools, Floats, PolicyName

Weights = Mapping[str, NDArray[np.float32]]
Shapes = Mapping[str, tuple[int, ...]]
Judge = Callable[["Policy", Features, Bools], Floats]
FORMAT = "jpo policy 3"
HIDDEN = 64
HEADS = 2
"""Critics of one member, side by side."""
SCORE = OWN.index("belief rule score")
SCORE_HERE = OWN.index("belief rule score here")
"""The same under the belief that earlier jobs of the installation bend; equal to SCORE where there were none."""
TEMPERATURE = 0.1
"""Runs: how much a candidate must save to be e times as likely, against the rule's own softmax of the same temperature."""
MOST_BYTES = 64 << 20
"""Of a file of weights; the largest that came with JPO has a quarter of a megabyte."""
SHIPPED = Path(__file__).with_name("weights") / "policy.safetensors"
REMEDY = "reinstall jpo, or make it anew with `jpo learn --pretrain`; without it the belief rule decides"


def shapes_of(stem: str, widths: Sequence[int], heads: tuple[int, ...] = ()) -> dict[str, tuple[int, ...]]:
    """Weights and biases between layers of these widths: stem.w0 (*heads, inputs, outputs), stem.b0 (*heads, 1, outputs), ..."""
    layers = enumerate(pairwise(widths))
    return {f"{stem}.{kind}{i}": (*heads, n_in if kind == "w" else 1, n_out) for i, (n_in, n_out) in layers for kind in "wb"}


WIDTHS = (WIDTH, HIDDEN, HIDDEN, 1)
LAYERS = tuple(pairwise(WIDTHS))
SHAPES: Shapes = shapes_of("critics", WIDTHS, (HEADS,))
"""Every tensor of one member: critics.w0 (2, WIDTH, 64), critics.b0 (2, 1, 64), ..."""
FIRST = "critics.w0"


def surely_saved(policy: "Policy", features: Features, allowed: Bools) -> Floats:
    """Mean over the critics less one standard deviation and the margin: they depart only where they agree and it matters.

    Source: pessimism over an ensemble, An et al., "Uncertainty-Based Offline Reinforcement Learning with Diversified
    Q-Ensemble", NeurIPS 2021.
    """
    savings = policy.savings(features, allowed)
    return np.asarray(savings.mean(axis=0) - savings.std(axis=0) - policy.margin)


@dataclass(frozen=True, eq=False, slots=True)
class Policy:
    """A trained ensemble of critics, which departs from the belief rule where all of it would.

    Attributes:
        members: weights of each member, tensors named and shaped as SHAPES says; from them learning goes on.
        released: domains (settings of `explore`, scenarios) in which it passed the release test, and may decide.
        card: how it was made: command, seeds and figures, for reports.
        withdrawn: why real runs took its release away; "" where they did not.
        margin: runs that an override must save, beyond a standard deviation of the ensemble.
        name: by which users know it; another than SAC is one of alternatives/.
        judge: how many runs each candidate surely saves, (K, WIDTH) and what is allowed -> (K,).
    """

    members: tuple[Weights, ...]
    released: tuple[str, ...]
    card: Mapping[str, Any]
    margin: float = WORTH
    withdrawn: str = ""
    name: PolicyName = "sac"
    judge: Judge = surely_saved

    def decides(self, *situations: str) -> bool:
        """Whether it may decide: SAC where it was released for all of these, an alternative because the user named it."""
        return self.name != "sac" or set(situations) <= set(self.released)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the weights, by which the audit log names the policy; phases and queue count if they have weight."""
        digest = hashlib.sha256()
        for weights in self.members:
            for name, tensor in weights.items():
                blind = (width for width in (WITHOUT_PHASES, WITHOUT_QUEUE) if name == FIRST and not tensor[:, width:].any())
                digest.update(tensor[:, : next(blind, None)].astype("<f4").tobytes())
        return digest.hexdigest()

    def values(self, features: Features) -> Floats:
        """What each critic expects of each candidate, in runs, up to a constant: (K, WIDTH) -> (critics, K)."""
        return np.concatenate([_forward(member, features) for member in self.members])

    def savings(self, features: Features, allowed: Bools) -> Floats:
        """Runs that each candidate saves against the belief rule's choice, by each critic: (K, WIDTH) -> (critics, K)."""
        values = self.values(features)
        return values - values[:, [rule_choice(features, allowed)]]

    def preferred(self, features: Features, allowed: Bools) -> Floats:
        """How many runs each candidate surely saves against the belief rule's choice, which has 0: (K, WIDTH) -> (K,)."""
        surely = self.judge(self, features, allowed)
        surely[rule_choice(features, allowed)] = 0.0
        return np.asarray(surely)

    def pick(self, features: Features, allowed: Bools, rng: np.random.Generator | None) -> int:
        """The allowed candidate that saves most; with `rng`, a draw from the rule's softmax times e to the savings / TEMPERATURE.

        Source: the policy of least KL divergence from an anchor, Levine, "Reinforcement Learning and Control as Probabilistic
        Inference", 2018.
        """
        if rng is None:
            return int(np.argmax(np.where(allowed, self.preferred(features, allowed), -np.inf)))
        logits = anchor(features) + self.savings(features, allowed).mean(axis=0) / TEMPERATURE
        return int(np.argmax(np.where(allowed, logits + rng.gumbel(size=len(logits)), -np.inf)))


def rule_choice(features: Features, allowed: Bools) -> int:
    """The belief rule's choice among the allowed candidates."""
    return int(np.argmin(np.where(allowed, features[:, SCORE], np.inf)))


def anchor(features: Features) -> Floats:
    """Logits of the belief rule's softmax, (K, WIDTH) -> (K,), up to a constant."""
    return np.asarray(-features[:, SCORE].astype(np.float64) / TEMPERATURE)


def _forward(weights: Weights, x: Features) -> Floats:
    """(K, WIDTH) -> (HEADS, K)."""
    for i in range(len(LAYERS)):
        x = driven(x, weights, i)
        if i < len(LAYERS) - 1:
            x = np.maximum(x, 0)
    return x[..., 0].astype(np.float64)


def driven(x: NDArray[Any], weights: Weights, i: int) -> NDArray[Any]:
    """What a layer gives before its ReLU, (..., K, inputs) -> (HEADS, K, outputs).

    Without phases and queue the first one is the product that it was before there were any, to the last bit.
    """
    w, b = weights[f"critics.w{i}"], weights[f"critics.b{i}"]
    if i > 0:
        return np.asarray(x @ w + b)
    drive = x[..., :WITHOUT_PHASES] @ w[:, :WITHOUT_PHASES] + b
    for later in (slice(WITHOUT_PHASES, WITHOUT_QUEUE), slice(WITHOUT_QUEUE, WIDTH)):
        if x[..., later].any():
            drive = drive + x[..., later] @ w[:, later]
    return np.asarray(drive)


def mean_policy(policies: Sequence[Policy]) -> Policy:
    """The mean of the weights of the same networks at several late stages of their training, not released.

    Source: Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization", UAI 2018.
    """
    alike = zip(*(policy.members for policy in policies), strict=True)
    members = tuple({name: np.stack([member[name] for member in stages]).mean(axis=0) for name in SHAPES} for stages in alike)
    return Policy(members, released=(), card={})


def save_policy(*members: Weights, released: Sequence[str], card: Mapping[str, Any], shapes: Shapes = SHAPES) -> bytes:
    """The file which `load_policy` reads; `card` must be JSON."""
    header = {"format": FORMAT, "schema": SCHEMA, "released": list(released), "card": dict(card)}
    named = {f"{i}.{name}": weights[name] for i, weights in enumerate(members) for name in shapes}
    return seal({name: np.ascontiguousarray(array, dtype=np.float32) for name, array in named.items()}, header)


def load_policy(source: bytes | Path = SHIPPED, shapes: Shapes = SHAPES) -> Policy:
    """Read a policy, whose members have tensors of these shapes.

    Raises StoreError: JPO-E601 if it is missing, damaged or foreign; JPO-E602 if it was made for other features or networks.
    """
    place = str(source) if isinstance(source, Path) else "policy"
    unreadable = partial(StoreError, place, remedy=REMEDY, code="JPO-E601")
    data = contents(source, MOST_BYTES, unreadable) if isinstance(source, Path) else source
    tensors, header = unseal(data, place, REMEDY)
    known = widened_to_schema(tensors, header)
    tensors = tensors if known is None else known
    members = len(tensors) // len(shapes)
    wanted = {f"{i}.{name}": shape for i in range(members) for name, shape in shapes.items()}
    found = {name: tensor.shape for name, tensor in tensors.items()}
    numbers = all(tensor.dtype == np.float32 for tensor in tensors.values())
    if header.get("format") != FORMAT or known is None or not members or found != wanted or not numbers:
        raise StoreError(place, "was made for another version of the agent", REMEDY, code="JPO-E602")
    weights = [{name: tensors[f"{i}.{name}"].astype(np.float32, copy=False) for name in shapes} for i in range(members)]
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise StoreError(place, "contains weights that are not finite", REMEDY, code="JPO-E602")
    released, card = header.get("released"), header.get("card")
    if not isinstance(released, list) or not isinstance(card, dict):
        raise StoreError(place, "does not say whether it was released", REMEDY, code="JPO-E602")
    return Policy(tuple(weights), tuple(map(str, released)), card)


def shipped_policy() -> Policy | None:
    """The policy that came with JPO; None where its file was taken out: then the belief rule decides, and the answer says so."""
    return load_policy() if SHIPPED.exists() else None
