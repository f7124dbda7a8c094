"""The peers which JPO is held against; each file is one of them. JPO itself is handed in by the command."""

from collections.abc import Mapping

from jpo.replay.play import Make
from jpo.replay.policies.gp_ei import GaussianProcess
from jpo.replay.policies.hillclimb import HillClimb
from jpo.replay.policies.optuna_samplers import optuna_gp, optuna_tpe
from jpo.replay.policies.simple import Default, Random
from jpo.replay.policies.zeus import Zeus

POLICIES: Mapping[str, Make] = {
    "default": Default,
    "random": Random,
    "hillclimb": HillClimb,
    "zeus": Zeus,
    "optuna-tpe": optuna_tpe,
    "optuna-gp": optuna_gp,
    "gp-ei": GaussianProcess,
}
"""By the name which they have in `--policies`."""

__all__ = ["POLICIES"]
