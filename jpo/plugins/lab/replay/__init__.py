"""Replays of recorded jobs: what JPO and its peers would have cost on them, run by run.

traces.py      recorded jobs in files; own_runs.py: the user's own runs as a trace
play.py        one replay: a policy chooses, the recording answers
contest.py     all replays of a comparison, spread over processes
metrics.py     their scores with standard errors
policies/      the peers; ladders.py: knobs as steps
extras.py      optional packages
"""

from jpo.plugins.lab.replay.contest import Backend, Contest, Result, Standing, hold
from jpo.plugins.lab.replay.metrics import Estimate, Score
from jpo.plugins.lab.replay.own_runs import OwnRuns, trace_of
from jpo.plugins.lab.replay.play import OBJECTIVES, Objective, PolicyFactory, Replay, ReplayPolicy, ReplayProblem, expected, play
from jpo.plugins.lab.replay.policies import POLICIES
from jpo.plugins.lab.replay.traces import CostUnit, Execution, Trace, read_trace

__all__ = [
    "OBJECTIVES",
    "POLICIES",
    "Backend",
    "Contest",
    "CostUnit",
    "Estimate",
    "Execution",
    "Objective",
    "OwnRuns",
    "PolicyFactory",
    "Replay",
    "ReplayPolicy",
    "ReplayProblem",
    "Result",
    "Score",
    "Standing",
    "Trace",
    "expected",
    "hold",
    "play",
    "read_trace",
    "trace_of",
]
