"""The scoring networks in torch: one small net for every candidate, 30-64-64-1, as actor and as twin critics.

The twins are one batched matrix product. Names and shapes are those of policy.SHAPES, so that numpy can read the tensors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from jpo.agent.policy import LAYERS, SHAPES

Parameters = dict[str, Tensor]


def initial(generator: torch.Generator, net: str) -> Parameters:
    """Fresh parameters of "actor" or "critics": uniform within 1/sqrt(inputs), the last layer a hundredth of it.

    The small last layer makes the first policy uniform over the candidates.
    """
    made: Parameters = {}
    for name, shape in SHAPES.items():
        if name.startswith(net):
            layer = int(name[-1])
            bound = 1 / math.sqrt(LAYERS[layer][0]) * (0.01 if layer == len(LAYERS) - 1 else 1.0)
            made[name] = (torch.rand(shape, generator=generator) * 2 - 1) * bound
    return made


def score(parameters: Mapping[str, Tensor], net: str, features: Tensor) -> Tensor:
    """Score candidates: (B, K, 30) -> (B, K) for "actor", (2, B, K) for "critics"."""
    batch, k, width = features.shape
    x = features.reshape(batch * k, width)  # (B K, 30)
    for i in range(len(LAYERS)):
        x = torch.matmul(x, parameters[f"{net}.w{i}"]) + parameters[f"{net}.b{i}"]
        if i < len(LAYERS) - 1:
            x = torch.relu(x)
    return x.reshape(*x.shape[:-2], batch, k)  # actor (B K, 1) -> (B, K); critics (2, B K, 1) -> (2, B, K)
