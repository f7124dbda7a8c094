"""Actions in a box: a Gaussian squashed by tanh, drawn so that gradients can pass from the action to mean and spread.

    u = mean + sd e,   e ~ N(0, 1),   a = tanh(u)  in (-1, 1),
    log pi(a) = sum over dimensions of  log N(u; mean, sd) - log(1 - a^2)

Source: Haarnoja et al., "Soft Actor-Critic Algorithms and Applications", 2018, appendix C.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

LOG_SD_LEAST, LOG_SD_MOST = -20.0, 2.0
"""Bounds of the spread, those of the paper's code."""
CONSTANT = 0.5 * math.log(2 * math.pi) + 2 * math.log(2)
"""Of log pi, per dimension: the normaliser of the Gaussian, and what tanh adds."""


@dataclass(frozen=True, eq=False, slots=True)
class Draw:
    """Actions drawn for n states, with what their gradients need.

    Attributes:
        action: shape (n, A), within -1..1.
        log_pi: shape (n, 1), log density of the action.
        deviation: shape (n, A), u - mean.
        bounded: shape (n, A), where the spread is at a bound and has no gradient.
    """

    action: Tensor
    log_pi: Tensor
    deviation: Tensor
    bounded: Tensor

    def first(self, n: int) -> "Draw":
        return Draw(self.action[:n], self.log_pi[:n], self.deviation[:n], self.bounded[:n])


def draw(outputs: Tensor, generator: torch.Generator) -> Draw:
    """Draw one action per state from the actor's outputs, shape (n, 2 A): means, then logs of the standard deviations."""
    mean, wanted = outputs.chunk(2, dim=1)
    noise = torch.randn(mean.shape, generator=generator)
    log_sd = wanted.clamp(LOG_SD_LEAST, LOG_SD_MOST)
    deviation = log_sd.exp() * noise
    u = mean + deviation
    # log(1 - tanh(u)^2) = 2 (log 2 - u - softplus(-2 u)): exact where tanh(u) rounds to 1
    log_pi = noise.square().mul_(-0.5).sub_(log_sd).add_(softplus(-2 * u).add_(u), alpha=2)  # (n, A), less the constants
    return Draw(u.tanh(), log_pi.sum(1, keepdim=True).sub_(u.shape[1] * CONSTANT), deviation, wanted != log_sd)


def mode(outputs: Tensor) -> Tensor:
    """The action of the mean: (n, 2 A) -> (n, A)."""
    return outputs.chunk(2, dim=1)[0].tanh()


def slope(drawn: Draw, action_slope: Tensor, log_pi_slope: Tensor) -> Tensor:
    """dJ / d outputs, shape (n, 2 A), of an objective J(action, log_pi).

    `action_slope`: shape (n, A), dJ / d action; `log_pi_slope`: dJ / d log_pi, the same for all (shape ()) or shape (n, 1).
    """
    a = drawn.action
    # da/du = 1 - a^2;  d log_pi/du = 2 a (the density N(u; mean, sd) itself does not change: u moves with its mean)
    by_u = action_slope * (1 - a.square()) + 2 * log_pi_slope * a
    by_log_sd = (by_u * drawn.deviation - log_pi_slope).masked_fill_(drawn.bounded, 0.0)
    return torch.cat((by_u, by_log_sd), dim=1)
