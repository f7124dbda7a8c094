"""Adam by torch's own function of it. Its class loads the compiler (torch._dynamo) before the first step: a second of CPU time in
every process that learns, and JPO compiles nothing.

Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015; `torch.optim.adam.adam`.
"""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.optim.adam import adam

EPS = 1e-8


class Adam:
    """Adam in one pass per tensor. It takes what is in each `.grad`, a Perceptron's slopes.

    Attributes:
        rate: its learning rate.
        eps: added to the root of the second moment.
        state: of each tensor that was moved: `step`, how often, and the moments `exp_avg` and `exp_avg_sq`.
    """

    def __init__(self, tensors: Iterable[Tensor], rate: float) -> None:
        self._tensors = list(tensors)
        self.rate, self.eps = rate, EPS
        self.state = dict[Tensor, dict[str, Tensor]]()

    def step(self) -> None:
        moved = [(tensor, tensor.grad) for tensor in self._tensors if tensor.grad is not None]
        states = [self.state.get(tensor) or self._begun(tensor) for tensor, _ in moved]
        adam(
            [tensor for tensor, _ in moved],
            [slope for _, slope in moved],
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            [state["step"] for state in states],
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.rate,
            weight_decay=0.0,
            eps=self.eps,
            maximize=False,
        )

    def _begun(self, tensor: Tensor) -> dict[str, Tensor]:
        moments = {"exp_avg": torch.zeros_like(tensor), "exp_avg_sq": torch.zeros_like(tensor)}
        self.state[tensor] = {"step": torch.zeros(()), **moments}
        return self.state[tensor]
