"""A front with facts, predictions and marks, and one before the first run."""

from __future__ import annotations

from dataclasses import replace

from made import DIGITS

from jpo.optimizer.pareto.front import Front, Point, Unshown, Volumes
from jpo.optimizer.surrogate import FailureChance
from jpo.records import Evidence, Interval, Note

TODAY = {"batch_size": 16.0, "gpus": 1.0}
TIME, COST = "duration_seconds", "cost_usd"
SIMULATED = "from simulated jobs; none of 7 runs here failed"
SELDOM = FailureChance(0.01, SIMULATED)


def fact(batch_size: float, seconds: float, cost: float, **changes: object) -> Point:
    return replace(Point({**TODAY, "batch_size": batch_size}, 2, {TIME: seconds, COST: cost}), **changes)


def guess(batch_size: float, seconds: float, cost: float, **changes: object) -> Point:
    values = {TIME: seconds, COST: cost}
    bounds = {quantity: Interval(value, 0.8 * value, 1.25 * value) for quantity, value in values.items()}
    return replace(Point({**TODAY, "batch_size": batch_size}, 0, values, bounds, failure=SELDOM), **changes)


FRONT = Front(
    workload=DIGITS,
    objectives={"time": TIME, "cost": COST},
    points=(
        fact(64, 7200, 8.0, on_front=True),
        fact(16, 14400, 9.0, marks=("today",), breaks=("cost_max",)),
        guess(
            128,
            5400,
            7.0,
            on_expected_front=True,
            marks=("suggested",),
            preferred=("time", "night"),
            failure=FailureChance(0.12, SIMULATED),
        ),
        guess(256, 7000, 6.0, on_expected_front=True),
    ),
    today=TODAY,
    suggested={**TODAY, "batch_size": 128.0},
    because=Note("JPO-I604", "batch_size 128 has not been tried"),
    preferences={"time": {**TODAY, "batch_size": 128.0}},
    volumes=Volumes({TIME: 15840.0, COST: 9.9}, 8640 * 1.9, 40000.0, 8640 * 1.9),
    left_out={Unshown("failed"): 3},
    evidence=Evidence(3, notes=(Note("JPO-I831", "a note"),), codes=("JPO-I831",)),
)
NOTHING = replace(FRONT, points=(Point(TODAY, 0, {}, marks=("today", "suggested")),), volumes=None)
