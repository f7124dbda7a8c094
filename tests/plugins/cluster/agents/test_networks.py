"""One function for all jobs: their order does not matter, and closed actions are never taken."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason='torch not found: pip install "jpo[learn]"')

from jpo.plugins.cluster.agents.networks import PREFERENCE, JobScores, StateValue, open_only  # noqa: E402
from jpo.plugins.cluster.environment.observation import FIGURES, OF_A_JOB, size  # noqa: E402


def test_jobs_that_change_places_change_scores_with_them() -> None:
    torch.manual_seed(0)
    net, seen = JobScores(4, 8, pairs=False), torch.rand(1, size(3))
    rows = seen[:, len(FIGURES) :].reshape(3, len(OF_A_JOB))
    turned = torch.cat((seen[0, : len(FIGURES)], rows[[2, 0, 1]].ravel())).unsqueeze(0)
    one, other = net(seen)[0], net(turned)[0]
    order = -PREFERENCE * torch.arange(4)  # what the place in the queue adds
    assert torch.allclose((one - order)[[2, 0, 1, 3]], other - order, atol=1e-6)
    assert torch.allclose(StateValue(8)(seen).shape and one, one)


def test_by_the_rule_jobs_are_preferred_in_the_order_of_the_queue() -> None:
    scores = JobScores(4, 8, pairs=False)(torch.zeros(1, size(3)))[0]
    assert scores[:3].tolist() == sorted(scores[:3].tolist(), reverse=True)


def test_a_closed_action_is_out_of_question() -> None:
    shares = open_only(torch.zeros(1, 3), torch.tensor([[True, False, True]])).softmax(dim=1)
    assert shares[0].tolist() == [0.5, 0.0, 0.5]
