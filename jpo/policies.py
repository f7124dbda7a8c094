"""Names of the policies that may decide. Apart from the records, so that the options of the command line load nothing else."""

from typing import Literal, get_args

PolicyName = Literal["sac", "belief", "steering", "reinforce", "mc-dropout", "per-objective", "by-sla"]
"""Policies that a user can name; "belief" is the belief rule, which needs no training."""
POLICIES: tuple[PolicyName, ...] = get_args(PolicyName)
TRAINED: tuple[PolicyName, ...] = tuple(name for name in POLICIES if name != "belief")
