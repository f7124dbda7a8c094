"""Multi-layer perceptrons in torch, with their backward pass written out: an actor is one, twin critics are two side by side.

At 64 x 64 neither autograd nor a product per critic is worth its overhead: every layer is one batched product over the heads, and
its gradient is written into one flat tensor, so that an optimiser or a target update is one call. Who learns what is decided in
sac.py and box.py. JPO's own tensors have the names and shapes of policy.SHAPES, so that numpy can read them.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from jpo.agent.policy import FIRST, SHAPES
from jpo.agent.state import WIDTH, WITHOUT_PHASES

Tensors = Mapping[str, Tensor]


class Perceptron(Tensors):
    """`heads` perceptrons of one shape, ReLU between the layers: reads like the dictionary of its tensors.

    The tensors named `stem.w0, stem.b0, stem.w1, ...` are moved into one flat tensor and go on as its views. Weights have shape
    (inputs, outputs), biases (1, outputs), with the heads in front if there are several.

    Attributes:
        flat: all parameters, shape (parameters,).
        slopes: gradients in the order of `flat`; each tensor's `.grad` is its part of them, `flat.grad` is all.
    """

    def __init__(self, stem: str, tensors: Tensors) -> None:
        names = [f"{stem}.{kind}{i}" for i in range(len(tensors) // 2) for kind in "wb"]
        self._named = {name: tensors[name] for name in names}
        self.flat = torch.cat([tensor.reshape(-1) for tensor in self._named.values()])
        self.slopes = self.flat.grad = torch.zeros_like(self.flat)
        values, slopes = self._cut(self.flat), self._cut(self.slopes)
        for tensor, value, slope in zip(self._named.values(), values, slopes, strict=True):
            tensor.data, tensor.grad = value.view(tensor.shape), slope.view(tensor.shape)
        self.heads = len(values[0])
        self._layers = list(zip(values[::2], values[1::2], strict=True))
        self._layer_slopes = list(zip(slopes[::2], slopes[1::2], strict=True))
        self._transposed = [weight.mT for weight in values[::2]]

    def _cut(self, flat: Tensor) -> list[Tensor]:
        """Views of each layer's weight and bias, shape (heads, inputs or 1, outputs)."""
        tensors = self._named.values()
        parts = torch.split(flat, [tensor.numel() for tensor in tensors])
        return [part.view(-1, *tensor.shape[-2:]) for part, tensor in zip(parts, tensors, strict=True)]

    def __getitem__(self, name: str) -> Tensor:
        return self._named[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    def forward(self, x: Tensor) -> list[Tensor]:
        """Inputs (n, inputs), the same for all heads -> what every layer was given, and last the outputs, (heads, n, outputs)."""
        seen = [x.expand(self.heads, *x.shape)]
        for weight, bias in self._layers[:-1]:
            seen.append(torch.baddbmm(bias, seen[-1], weight).relu_())
        weight, bias = self._layers[-1]
        return [*seen, torch.baddbmm(bias, seen[-1], weight)]

    def backward(self, seen: Sequence[Tensor], slope: Tensor) -> None:
        """Write the gradients of all parameters, given `forward`'s result and dJ / d outputs, shape (heads, n, outputs)."""
        for i in reversed(range(len(self._layers))):
            weight_slope, bias_slope = self._layer_slopes[i]
            torch.bmm(seen[i].mT, slope, out=weight_slope)
            torch.sum(slope, 1, keepdim=True, out=bias_slope)
            if i > 0:
                slope = self._through(i, seen, slope)

    def input_slope(self, seen: Sequence[Tensor], slope: Tensor) -> Tensor:
        """dJ / d inputs, shape (n, inputs), summed over the heads; the parameters and their gradients stay as they are."""
        for i in reversed(range(1, len(self._layers))):
            slope = self._through(i, seen, slope)
        return torch.bmm(slope, self._transposed[0]).sum(0)

    def _through(self, i: int, seen: Sequence[Tensor], slope: Tensor) -> Tensor:
        """dJ / d outputs of layer i -> dJ / d outputs of layer i - 1, before its ReLU."""
        return torch.bmm(slope, self._transposed[i]).mul_(seen[i].sign())  # ReLU gave 0 or more: the sign is its derivative


def uniform(generator: torch.Generator, shapes: Mapping[str, tuple[int, ...]], *, last: float = 1.0) -> dict[str, Tensor]:
    """Fresh tensors, uniform within 1/sqrt(inputs of their layer); the last weight and bias are multiplied by `last`.

    `shapes`: weights (..., inputs, outputs), each followed by its bias (..., 1, outputs); `last`: small makes a first policy
    that hardly depends on what it sees.
    """
    made: dict[str, Tensor] = {}
    inputs = 1
    for at, (name, shape) in enumerate(shapes.items()):
        inputs = shape[-2] if at % 2 == 0 else inputs
        bound = 1 / math.sqrt(inputs) * (last if at >= len(shapes) - 2 else 1.0)
        made[name] = (torch.rand(shape, generator=generator) * 2 - 1) * bound
    return made


def initial(generator: torch.Generator) -> dict[str, Tensor]:
    """Fresh tensors of JPO's critics, whose answers are small at first; what runs with phases say is yet to be learnt."""
    heads, _, hidden = SHAPES[FIRST]
    made = uniform(generator, {**SHAPES, FIRST: (heads, WITHOUT_PHASES, hidden)}, last=0.01)
    return {**made, FIRST: torch.cat([made[FIRST], torch.zeros(heads, WIDTH - WITHOUT_PHASES, hidden)], dim=1)}
