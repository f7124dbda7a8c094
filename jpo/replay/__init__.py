"""Recorded jobs played again: what JPO and its peers would have cost on them, run by run."""

from jpo.replay.contest import Backend, Contest, Result, Standing, Track, hold
from jpo.replay.metrics import Estimate, Score
from jpo.replay.own_runs import OwnRuns, trace_of
from jpo.replay.play import OBJECTIVES, Make, Objective, Policy, Problem, Replay, expected, play
from jpo.replay.policies import POLICIES
from jpo.replay.traces import CostUnit, Execution, Trace, read_trace

__all__ = [
    "OBJECTIVES",
    "POLICIES",
    "Backend",
    "Contest",
    "CostUnit",
    "Estimate",
    "Execution",
    "Make",
    "Objective",
    "OwnRuns",
    "Policy",
    "Problem",
    "Replay",
    "Result",
    "Score",
    "Standing",
    "Trace",
    "Track",
    "expected",
    "hold",
    "play",
    "read_trace",
    "trace_of",
]
