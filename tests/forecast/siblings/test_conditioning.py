"""A prior after siblings: near to what they measured, as wide as their misfit, and never wholly theirs."""

from __future__ import annotations

import numpy as np
import pytest
from forecast.siblings.test_evidence import BATCHES, a_run

from jpo.forecast.siblings import conditioning
from jpo.forecast.siblings.conditioning import LEAST_DOUBT, MISFITS, conditioned_draws, log_likelihood_of, shares_of, systematic
from jpo.forecast.siblings.evidence import SiblingEvidence, evidence_of
from jpo.records import Draws, Run, RunStatus

JOBS = 2000


def flat() -> Draws:
    """Draws around 0 with sd .5, independent in each candidate; a tenth fails at the largest batch."""
    log = 0.5 * np.random.default_rng(0).standard_normal((JOBS, 3))
    log[:, 0] = 0
    fails = np.zeros((JOBS, 3), dtype=np.bool_)
    fails[::10, 2] = True
    return Draws(log, 0 * log, 0 * log, 0 * log, fails)


def evidence(*runs: Run) -> SiblingEvidence:
    found = evidence_of(BATCHES, runs)
    assert found is not None
    return found


@pytest.fixture
def believing(monkeypatch: pytest.MonkeyPatch) -> None:
    """All draws but the least doubt assume a misfit of 15%."""
    monkeypatch.setattr(conditioning, "MISFITS", ((0.15, 1.0),))


@pytest.mark.usefixtures("believing")
def test_draws_move_to_what_siblings_measured_whatever_the_level_there() -> None:
    for level in (1.0, 50.0):
        seen = evidence(a_run(1, 32, 100 * level), a_run(2, 64, 60 * level), a_run(3, 128, 40 * level))
        draws = conditioned_draws(flat(), BATCHES, seen, np.random.default_rng(1))
        assert np.median(draws.log_time, axis=0) == pytest.approx([0, np.log(0.6), np.log(0.4)], abs=0.2)
        assert (draws.log_time[:, 0] == 0).all()
        assert 0.1 < draws.log_time[:, 1].std() < 0.4, "no narrower than the misfit, narrower than the prior"


def test_some_draws_do_not_believe_siblings() -> None:
    seen = evidence(a_run(1, 32, 100), a_run(2, 64, 10), a_run(3, 128, 10))
    moved = conditioned_draws(flat(), BATCHES, seen, np.random.default_rng(1)).log_time[:, 1]
    doubting = 1 - sum(share for _, share in MISFITS)
    assert (moved > -1).mean() == pytest.approx(doubting, abs=0.05)


def test_a_single_measurement_says_nothing_of_durations() -> None:
    """Its level is unknown: only differences count."""
    draws = conditioned_draws(flat(), BATCHES, evidence(a_run(1, 64, 10)), np.random.default_rng(1))
    assert draws.log_time.mean(axis=0) == pytest.approx([0, 0, 0], abs=0.06)


def test_a_configuration_that_fails_there_is_likelier_to_fail_here_but_not_sure_to() -> None:
    failing = evidence(a_run(1, 32, 100), *(a_run(n, 128, 5, status=RunStatus.OOM_KILLED) for n in range(2, 9)))
    assert 0.2 < conditioned_draws(flat(), BATCHES, failing, np.random.default_rng(1)).fails[:, 2].mean() < 0.6


@pytest.mark.usefixtures("believing")
def test_a_stopped_run_lifts_the_draws_below_it() -> None:
    seen = evidence(a_run(1, 32, 100), a_run(2, 128, 200, status=RunStatus.STOPPED))
    moved = conditioned_draws(flat(), BATCHES, seen, np.random.default_rng(1)).log_time[:, 2]
    assert np.quantile(moved, 0.3) > 0.3


def test_one_sibling_is_believed_by_most_and_several_by_more_if_they_agree() -> None:
    slow, fast = (1, 32, 100), (2, 64, 40)
    one = evidence(a_run(*slow), a_run(*fast))
    agreeing = evidence(a_run(*slow), a_run(*fast), a_run(3, 32, 10, "t4"), a_run(4, 64, 4, "t4"))
    contrary = evidence(a_run(*slow), a_run(*fast), a_run(3, 32, 4, "t4"), a_run(4, 64, 10, "t4"))
    assert shares_of(flat(), one) == pytest.approx([share for _, share in MISFITS])
    one_alone = sum(share for _, share in MISFITS)
    assert sum(shares_of(flat(), contrary)) < one_alone < sum(shares_of(flat(), agreeing)) <= 1 - LEAST_DOUBT


@pytest.mark.usefixtures("believing")
def test_two_siblings_that_agree_count_more_than_one() -> None:
    one = evidence(a_run(1, 32, 100), a_run(2, 64, 60))
    both = evidence(a_run(1, 32, 100), a_run(2, 64, 60), a_run(3, 32, 7, "t4"), a_run(4, 64, 4.2, "t4"))
    spread = [conditioned_draws(flat(), BATCHES, seen, np.random.default_rng(1)).log_time[:, 1].std() for seen in (one, both)]
    assert spread[1] < spread[0]


def test_a_draw_that_fits_is_likelier() -> None:
    log = np.log(np.array([[1, 0.5, 0.3], [1, 2, 3]]))
    draws = Draws(log, 0 * log, 0 * log, 0 * log, np.zeros((2, 3), dtype=np.bool_))
    fitting, other = log_likelihood_of(draws, evidence(a_run(1, 32, 100), a_run(2, 64, 50)))
    assert fitting > other


def test_systematic_resampling_keeps_to_the_weights() -> None:
    picked = systematic(np.array([0.5, 0.25, 0.25, 0]), 8, np.random.default_rng(0))
    assert np.bincount(picked, minlength=4).tolist() == [4, 2, 2, 0]
