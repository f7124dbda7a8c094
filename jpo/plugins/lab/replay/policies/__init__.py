"""Policies of the peers with which JPO is compared, one per file. JPO itself is added by the command."""

from collections.abc import Mapping

from jpo.plugins.lab.replay.play import PolicyFactory
from jpo.plugins.lab.replay.policies.gp_ei import GaussianProcess
from jpo.plugins.lab.replay.policies.hillclimb import HillClimb
from jpo.plugins.lab.replay.policies.optuna_samplers import optuna_gp, optuna_tpe
from jpo.plugins.lab.replay.policies.simple import Default, Random
from jpo.plugins.lab.replay.policies.zeus import Zeus

POLICIES: Mapping[str, PolicyFactory] = {
    "default": Default,
    "random": Random,
    "hillclimb": HillClimb,
    "zeus": Zeus,
    "optuna-tpe": optuna_tpe,
    "optuna-gp": optuna_gp,
    "gp-ei": GaussianProcess,
}
