"""Beliefs and candidates by hand, for the tests of the agent."""

import numpy as np
import pytest

from jpo.records import Belief, Candidates


@pytest.fixture
def grid():
    """Three batch sizes; today's is the first row, all may be proposed."""

    def build(batches=(32, 64, 128), current=0, admissible=None, log_rate=None):
        k = len(batches)
        admissible = np.ones(k, bool) if admissible is None else np.array(admissible)
        rate = np.zeros(k) if log_rate is None else np.array(log_rate)
        return Candidates(("batch_size",), np.array(batches, float)[:, None], current, admissible, rate)

    return build


@pytest.fixture
def belief():
    """Equally likely particles, given their log time as rows; cost as time."""

    def build(
        log_time,
        *,
        runs=(1, 0, 0),
        failures=(0, 0, 0),
        fails=None,
        p_fail=None,
        duration=100.0,
        noise=0.05,
        val_loss=None,
        rate=0.0,
    ):
        time = np.array(log_time, float)
        flat = np.zeros_like(time)
        p = np.zeros(time.shape[1]) if p_fail is None else np.array(p_fail)
        weights = np.full(len(time), 1 / len(time))
        fails = np.zeros(time.shape, bool) if fails is None else np.array(fails)
        counts = (np.array(runs), np.array(failures), np.zeros(time.shape[1], int))
        known = (noise, duration, val_loss, 0.5, True)
        return Belief(weights, time, time + rate, flat, flat, fails, p, *counts, *known)

    return build
