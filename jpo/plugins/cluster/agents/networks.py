"""Networks: one function scores every waiting job, so that their number and order do not matter.

Source: Zhang et al., "RLScheduler: An Automated HPC Batch Job Scheduler Using Reinforcement Learning", SC 2020 (kernel network).
"""

import torch
from torch import Tensor, nn

from jpo.plugins.cluster.environment.observation import FIGURES, OF_A_JOB

PREFERENCE = 0.02
"""By how much the score of a job is above that of the next one in the queue, before anything is learnt."""
SMALL = 0.01
"""Weights that jobs are scored with at first: the order of the queue decides, but not always."""
CLOSED = -1e9


class JobScores(nn.Module):
    """A number for each action: of each job from its row and the figures of the whole, and of void from those of all jobs.

    `pairs`: actions are not jobs but pairs of policies. Else it begins with the order of the queue, as the rule does.
    """

    def __init__(self, actions: int, hidden: int, *, pairs: bool) -> None:
        super().__init__()
        self._pairs = pairs
        rows, whole = len(OF_A_JOB), len(FIGURES)
        self.job = nn.Sequential(
            nn.Linear(rows + whole, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1)
        )
        self.whole = nn.Sequential(nn.Linear(2 * rows + whole, hidden), nn.Tanh(), nn.Linear(hidden, actions if pairs else 1))
        last = self.job[-1]
        assert isinstance(last, nn.Linear)
        nn.init.normal_(last.weight, std=SMALL)
        nn.init.zeros_(last.bias)
        self._begin = -PREFERENCE * torch.arange(actions, dtype=torch.float32)

    def forward(self, seen: Tensor) -> Tensor:
        """(batch, size) -> (batch, actions)"""
        figures, rows, pooled = parts(seen)
        if self._pairs:
            return torch.as_tensor(self.whole(pooled))
        each = torch.cat((rows, figures.unsqueeze(1).expand(-1, rows.shape[1], -1)), dim=2)
        return torch.cat((self.job(each).squeeze(2), self.whole(pooled)), dim=1) + self._begin


class StateValue(nn.Module):
    """What is still to come, from all that is seen."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * len(OF_A_JOB) + len(FIGURES), hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, seen: Tensor) -> Tensor:
        """(batch, size) -> (batch,)"""
        return torch.as_tensor(self.net(parts(seen)[2])).squeeze(1)


def parts(seen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Figures of the whole, rows of jobs, and the mean and the largest of the rows beside the figures."""
    figures = seen[:, : len(FIGURES)]
    rows = seen[:, len(FIGURES) :].reshape(len(seen), -1, len(OF_A_JOB))  # (batch, slots, of a job)
    return figures, rows, torch.cat((rows.mean(dim=1), rows.amax(dim=1), figures), dim=1)


def open_only(scores: Tensor, masks: Tensor) -> Tensor:
    """Scores with those of actions that are not open far below."""
    return torch.where(masks, scores, torch.full_like(scores, CLOSED))
