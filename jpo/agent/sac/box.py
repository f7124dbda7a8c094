"""Soft actor-critic on actions in a box [-1, 1]^A: one update, in the order of the paper, with the temperature learnt.

It shares networks, critics' step and targets with sac.py. Source: Haarnoja et al., "Soft Actor-Critic Algorithms and
Applications", 2018. JPO itself chooses among candidates; this form serves problems with continuous actions, and the comparison
with other implementations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from jpo.agent.policy import shapes_of
from jpo.agent.sac.adam import Adam
from jpo.agent.sac.box_replay import BoxBatch
from jpo.agent.sac.candidate_set import fit, follow
from jpo.agent.sac.networks import Perceptron, uniform
from jpo.agent.sac.squashed_gaussian import draw, mode, slope


@dataclass(eq=False, slots=True)
class BoxLearner:
    """Learner on a box: everything that an update changes, and how.

    Attributes:
        actor: S -> 2 A: means and logs of the standard deviations before squashing.
        critics, targets: S + A -> 1, twice.
        log_alpha: log of the temperature, shape (1,).
        actor_optimiser: of the actor and of the temperature.
        generator: draws the actions.
        gamma: discount per step.
        tau: how far the targets go to the critics at each update.
    """

    actor: Perceptron
    critics: Perceptron
    targets: Perceptron
    log_alpha: Tensor
    actor_optimiser: Adam
    critic_optimiser: Adam
    generator: torch.Generator
    gamma: float
    tau: float


def new_box_learner(
    states: int,
    actions: int,
    *,
    hidden: Sequence[int] = (64, 64),
    seed: int,
    rate: float = 3e-4,
    gamma: float = 0.99,
    tau: float = 0.005,
) -> BoxLearner:
    """A learner with fresh networks; one seed gives one learner.

    `states`, `actions`: S and A; `hidden`: widths of the hidden layers of every network; `rate`: Adam's learning rate for all of
    them and for the temperature.
    """
    generator = torch.Generator().manual_seed(seed)
    actor = Perceptron("actor", uniform(generator, shapes_of("actor", (states, *hidden, 2 * actions)), last=0.01))
    critics = Perceptron("critics", uniform(generator, shapes_of("critics", (states + actions, *hidden, 1), (2,))))
    targets = Perceptron("critics", {name: value.clone() for name, value in critics.items()})
    log_alpha = torch.zeros(1)
    log_alpha.grad = torch.zeros(1)
    optimisers = Adam((actor.flat, log_alpha), rate), Adam((critics.flat,), rate)
    return BoxLearner(actor, critics, targets, log_alpha, *optimisers, generator, gamma, tau)


@torch.inference_mode()  # gradients are written by hand, so that autograd need not watch
def update(learner: BoxLearner, batch: BoxBatch) -> Tensor:
    """Make one gradient step with critics, actor, temperature and targets. Returns the critics' errors, shape (2, n, 1)."""
    n, width = batch.state.shape
    alpha = learner.log_alpha.exp()
    seen = learner.actor.forward(torch.cat((batch.state, batch.next_state)))  # one pass for s and s': (1, 2 n, ...)
    drawn = draw(seen[-1][0], learner.generator)

    # y = r + gamma (1 - terminated) (min_i Q'_i(s', a') - alpha log pi(a'|s'))
    next_q = learner.targets.forward(torch.cat((batch.next_state, drawn.action[n:]), 1))[-1].amin(0)  # (n, 1)
    y = batch.reward + learner.gamma * batch.goes_on * (next_q - alpha * drawn.log_pi[n:])
    error = fit(learner.critics, learner.critic_optimiser, batch.executed, y)

    # J_pi = E[alpha log pi(a|s) - min_i Q_i(s, a)], through the action into the actor alone
    now = drawn.first(n)
    seen_q = learner.critics.forward(torch.cat((batch.state, now.action), 1))
    smaller = seen_q[-1] == seen_q[-1].amin(0)  # (2, n, 1)
    action_slope = learner.critics.input_slope(seen_q, smaller / -n)[:, width:]  # (n, A)
    learner.actor.backward([layer[:, :n] for layer in seen], slope(now, action_slope, alpha / n)[None])

    # J_alpha = -log alpha E[log pi(a|s) + target entropy], target entropy = -A
    learner.log_alpha.grad = now.action.shape[1] - now.log_pi.mean(0)
    learner.actor_optimiser.step()
    follow(learner.targets, learner.critics, learner.tau)
    return error


def act(learner: BoxLearner, states: Tensor, *, deterministic: bool) -> Tensor:
    """Actions within -1..1: (n, S) -> (n, A), drawn, or those of the means."""
    outputs = learner.actor.forward(states)[-1][0]
    if deterministic:
        return mode(outputs)
    return draw(outputs, learner.generator).action
