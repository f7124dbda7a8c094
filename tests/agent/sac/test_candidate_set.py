"""The update against a straightforward reference: loops over the batch, two separate critics, formulas as in the papers."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.policy import FIRST, SCORE, TEMPERATURE  # noqa: E402
from jpo.agent.sac.candidate_set import (  # noqa: E402
    GAMMA,
    HUBER,
    OF_TRANSITIONS,
    RATE,
    TAU,
    fit,
    follow,
    new_learner,
    soft_values,
    spread,
    update,
    with_optimiser,
)
from jpo.agent.sac.fork_replay import MOST, ForkBatch  # noqa: E402
from jpo.agent.sac.networks import Perceptron  # noqa: E402
from jpo.agent.sac.replay_buffer import Batch  # noqa: E402
from jpo.agent.state import WIDTH, WITHOUT_PHASES  # noqa: E402

torch.set_num_threads(1)  # faster than two on networks this small

EPS = 1e-3
"""Of Adam, here only: with the usual 1e-8 it makes a full step of a gradient that is nothing but rounding."""


def batch(n=5, k=4, seed=0):
    rng = np.random.default_rng(seed)
    allowed = rng.random((2, n, k)) < 0.6
    allowed[:, :, 0] = True
    features = rng.normal(size=(2, n, k, WIDTH)).astype(np.float32)
    reward, ended = rng.uniform(-3, 0, n).astype(np.float32), np.array([0, 1, 0, 0, 0], np.float32)[:n]
    return Batch(features[0], allowed[0], rng.integers(k, size=n), reward, features[1], allowed[1], ended)


def forks(sizes=(2, 5, MOST), seed=0):
    rng, n = np.random.default_rng(seed), len(sizes)
    there = np.arange(MOST)[None] < np.array(sizes)[:, None]
    features, saved = rng.normal(size=(n, MOST, WIDTH)).astype(np.float32), rng.uniform(-3, 3, (n, MOST)).astype(np.float32)
    saved[:, 0] = 0.0
    features[~there], saved[~there] = 0.0, 0.0
    return ForkBatch(features, saved, there)


def net(parameters, x, head):
    for i in range(3):
        x = x @ parameters[f"critics.w{i}"][head] + parameters[f"critics.b{i}"][head]
        x = torch.relu(x) if i < 2 else x
    return x[..., 0]


def huber(error):
    error = abs(error)
    return 0.5 * error**2 if error < HUBER else HUBER * (error - HUBER / 2)


def soft_value(targets, features, allowed):
    """alpha log of the sum over the allowed of pi0 exp(Q / alpha), pi0 the softmax of -score / alpha among them."""
    x = torch.from_numpy(features[allowed])
    pi0 = torch.softmax(-x[:, SCORE] / TEMPERATURE, 0)
    q = torch.minimum(*(net(targets, x, head) for head in (0, 1)))
    return TEMPERATURE * torch.log((pi0 * torch.exp(q / TEMPERATURE)).sum())


def reference_losses(critics, targets, b, f):
    of_transitions, of_forks = [], []
    for i in range(len(b.reward)):
        v = soft_value(targets, b.next_features[i], b.next_allowed[i])
        y = (b.reward[i] + GAMMA * (1 - b.terminated[i]) * v).detach()
        x = torch.from_numpy(b.features[i, b.executed[i]])
        of_transitions += [huber(net(critics, x, head) - y) for head in (0, 1)]
    for i in range(len(f.saved)):
        x = torch.from_numpy(f.features[i][f.there[i]])
        for head in (0, 1):
            q = net(critics, x, head)
            of_forks += [huber(q[j] - q[0] - f.saved[i, j]) for j in range(len(q))]
    return OF_TRANSITIONS * sum(of_transitions) / len(of_transitions), sum(of_forks) / len(of_forks)


def learner_away_from_the_start():
    """The last layers are nearly 0 at first, which would hide mistakes in the layers before them."""
    learner = new_learner(3)
    for network, more in ((learner.critics, 30), (learner.targets, 20)):
        network.flat.mul_(2)
        network["critics.w2"].mul_(more)
    learner.optimiser.eps = EPS
    return learner


@pytest.mark.parametrize("given", ["both", "transitions", "forks"])
def test_one_update_is_that_of_the_reference(given):
    ours, b, f = learner_away_from_the_start(), batch(), forks()
    critics, targets = ({name: value.clone().requires_grad_() for name, value in n.items()} for n in (ours.critics, ours.targets))
    of_transitions, of_forks = reference_losses(critics, targets, b, f)
    loss = {"both": of_transitions + of_forks, "transitions": of_transitions, "forks": of_forks}[given]
    optimiser = torch.optim.Adam(critics.values(), lr=RATE, eps=EPS)
    loss.backward(inputs=list(critics.values()))
    optimiser.step()
    found = update(ours, None if given == "forks" else b, None if given == "transitions" else f)
    assert [one.item() > 0 for one in found] == [given != "forks", given != "transitions"]
    for name, tensor in ours.critics.items():
        assert torch.allclose(tensor.grad, critics[name].grad, atol=1e-5), name
        assert torch.allclose(tensor, critics[name], atol=1e-5), name
    for name, tensor in ours.targets.items():
        assert torch.allclose(tensor, (1 - TAU) * targets[name] + TAU * critics[name], atol=1e-5), name


def known(q_of_feature=1.0):
    """Twins that answer the first feature, and one more; their minimum is the first feature."""
    zero = {name: torch.zeros_like(tensor) for name, tensor in new_learner(0).critics.items()}
    zero["critics.w0"][:, 0, 0] = zero["critics.w1"][:, 0, 0] = zero["critics.b0"][:, 0, 0] = q_of_feature
    zero["critics.b0"][:, 0, 0] = 10.0
    zero["critics.w2"][:, 0, 0], zero["critics.b2"][:, 0, 0] = 1.0, torch.tensor([-10.0, -9.0])
    return Perceptron("critics", zero)


def test_the_exact_actors_soft_value_is_a_log_sum_exp_by_hand():
    """Q = 1, 2, 5 and scores .2, .3, 0; the last is not allowed, so pi0 = e^-2, e^-3 over their sum, T = .1."""
    features = np.zeros((2, 3, WIDTH), np.float32)
    features[:, :, 0], features[:, :, SCORE] = (1.0, 2.0, 5.0), (0.2, 0.3, 0.0)
    allowed, nothing = np.array([[True, True, False]] * 2), np.zeros(2, np.int64)
    b = Batch(features, allowed, nothing, np.float32([-0.5, -0.5]), features, allowed, np.float32([0, 1]))
    share = np.exp(-3) / (np.exp(-2) + np.exp(-3))
    v = 0.1 * np.log((1 - share) * np.exp(1 / 0.1) + share * np.exp(2 / 0.1))
    assert v == pytest.approx(2 + 0.1 * np.log(share), abs=1e-4), "the better one, less what its rarity under the rule costs"
    assert soft_values(known(), b).tolist() == pytest.approx([-0.5 + GAMMA * v, -0.5], abs=1e-5)


def test_where_all_is_worth_the_same_the_soft_value_is_that_worth_whatever_the_rule_thinks():
    b = batch()
    for features in (b.features, b.next_features):
        features[..., 0] = 1.5
    b.terminated[:] = 0.0
    assert soft_values(known(), b).numpy() == pytest.approx(b.reward + GAMMA * 1.5, abs=1e-4)


def test_the_same_seed_gives_the_same_learner_to_the_bit():
    one, same, other = new_learner(1), new_learner(1), new_learner(2)
    for learner in (one, same, other):
        for seed in range(5):
            update(learner, batch(seed=seed), forks(seed=seed))
    assert torch.equal(one.critics.flat, same.critics.flat)
    assert torch.equal(one.targets.flat, same.targets.flat)
    assert not torch.equal(one.critics.flat, other.critics.flat)


def test_beyond_the_huber_width_an_error_pulls_no_harder():
    pulls = []
    for saved in (0.25, 1.0, 3.0, 100.0):
        learner, features = new_learner(0), np.zeros((1, MOST, WIDTH), np.float32)
        features[0, 1, 0] = 1.0
        there = np.arange(MOST)[None] < 2
        learner.critics["critics.w2"].zero_()
        update(learner, None, ForkBatch(features, np.where(there, [[0, saved] + [0] * 6], 0).astype(np.float32), there))
        pulls.append(float(learner.critics["critics.w2"].grad.abs().sum()))
    assert pulls[0] == pytest.approx(pulls[1] / 4, rel=1e-4)
    assert pulls[1:] == pytest.approx([pulls[1]] * 3, rel=1e-4)


def test_what_is_not_allowed_or_not_there_does_not_matter():
    one, other, b, f = new_learner(0), new_learner(0), batch(), forks()
    changed, absent = b.next_features.copy(), f.features.copy()
    changed[~b.next_allowed] += 7
    absent[~f.there] += 7
    update(one, b, f)
    update(
        other,
        Batch(b.features, ~b.allowed, b.executed, b.reward, changed, b.next_allowed, b.terminated),
        ForkBatch(absent, np.where(f.there, f.saved, 7.0).astype(np.float32), f.there),
    )
    assert torch.equal(one.critics.flat, other.critics.flat)


def test_forks_teach_what_each_candidate_saves_against_the_rules_choice():
    """Savings of -1, 0, .5, known without noise: the error falls, and on candidates not seen as well."""
    rng, learner = np.random.default_rng(0), new_learner(0)

    def drawn(n):
        features, there = rng.normal(size=(n, MOST, WIDTH)).astype(np.float32), np.zeros((n, MOST), bool)
        there[:, :3] = True
        features[:, :, 0] = (0, -2, 1, 0, 0, 0, 0, 0)
        return ForkBatch(features * there[..., None], features[..., 0] * 0.5 * there, there)

    errors = [update(learner, None, drawn(64))[1].item() for _ in range(400)]
    assert errors[-1] < 0.05 * errors[0]
    fresh = drawn(200)
    q = learner.critics.forward(torch.from_numpy(fresh.features[:, :3].reshape(-1, WIDTH)))[-1].mean(0).reshape(200, 3)
    assert (q[:, 1] - q[:, 0]).mean().item() == pytest.approx(-1.0, abs=0.1)
    assert (q[:, 2] - q[:, 0]).mean().item() == pytest.approx(0.5, abs=0.1)


def test_a_common_level_is_no_matter_of_forks():
    """Only differences are told, so that the level is left to the transitions: the output's bias stays."""
    learner = new_learner(0)
    before = learner.critics["critics.b2"].clone()
    update(learner, None, forks())
    assert torch.allclose(learner.critics["critics.b2"].grad, torch.zeros_like(before), atol=1e-6)


def test_transitions_teach_which_of_two_candidates_pays():
    learner, n = new_learner(0), 16
    features = np.zeros((n, 2, WIDTH), np.float32)
    features[:, 1, 0] = 1.0
    executed = np.arange(n) % 2
    reward = np.where(executed == 1, 0.0, -1.0).astype(np.float32)
    yes, ended = np.ones((n, 2), bool), np.ones(n, np.float32)
    for _ in range(300):
        update(learner, Batch(features, yes, executed, reward, features, yes, ended), None)
    assert net(learner.critics, torch.from_numpy(features[0]), 0).tolist() == pytest.approx([-1.0, 0.0], abs=0.1)


def test_fit_moves_towards_what_should_have_been_answered():
    learner, x = new_learner(0), torch.ones(1, WIDTH)
    before = learner.critics.forward(x)[-1]
    error = fit(learner.critics, learner.optimiser, x, before[0] + 2.0)
    assert error[0].item() == pytest.approx(-2.0, abs=1e-5)
    assert (learner.critics.forward(x)[-1] > before).all()


def test_values_are_spread_over_what_is_there():
    there = torch.tensor([[True, False], [True, True]])
    assert spread(torch.tensor([[1.0, 2.0, 3.0]]), there).tolist() == [[[1, 0], [2, 3]]]


def test_targets_follow_by_a_tenth_of_the_way():
    targets, critics = new_learner(0).targets, new_learner(1).critics
    targets.flat.fill_(1.0)
    critics.flat.fill_(2.0)
    follow(targets, critics, 0.1)
    assert torch.allclose(targets["critics.w1"], torch.full((2, 64, 64), 1.1))


def without_phases(learner):
    """The same learner with networks from before phases were part of the state."""
    critics, targets = (
        {
            name: value.detach()[:, :WITHOUT_PHASES].clone() if name == FIRST else value.detach().clone()
            for name, value in of.items()
        }
        for of in (learner.critics, learner.targets)
    )
    return with_optimiser(critics, targets)


def blind(one, width=WIDTH):
    """The same batch where nothing is known of phases."""
    masked = {}
    for name in ("features", "next_features"):
        if hasattr(one, name):
            masked[name] = getattr(one, name).copy()
            masked[name][..., WITHOUT_PHASES:] = 0
            masked[name] = np.ascontiguousarray(masked[name][..., :width])
    return replace(one, **masked)


def test_without_phases_networks_learn_to_the_last_bit_what_they_learnt_before_there_were_any():
    wide = new_learner(3)
    narrow = without_phases(wide)
    for seed in range(5):
        update(wide, blind(batch(seed=seed)), blind(forks(seed=seed)))
        update(narrow, blind(batch(seed=seed), WITHOUT_PHASES), blind(forks(seed=seed), WITHOUT_PHASES))
    assert not wide.critics[FIRST].detach()[:, WITHOUT_PHASES:].any()
    for name, value in narrow.critics.items():
        theirs = wide.critics[name].detach()
        assert (value.detach() == (theirs[:, :WITHOUT_PHASES] if name == FIRST else theirs)).all(), name


def test_with_phases_their_weights_are_learnt():
    learner = new_learner(3)
    assert not learner.critics[FIRST].detach()[:, WITHOUT_PHASES:].any()
    update(learner, batch(), forks())
    assert learner.critics[FIRST].detach()[:, WITHOUT_PHASES:].abs().min() > 0
