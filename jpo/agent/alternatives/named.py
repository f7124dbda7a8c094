"""Policy by the name that a user gives it."""

from collections.abc import Mapping
from dataclasses import replace

from jpo.agent.alternatives import judges, steering
from jpo.agent.policy import SHAPES, SHIPPED, Judge, Policy, Shapes, load_policy, shipped_policy
from jpo.records import PolicyName

OF_SAC: Mapping[PolicyName, Judge] = {"mc-dropout": judges.by_dropout, "by-sla": judges.by_sla}
"""What is made of SAC's own critics."""
OF_FILES: Mapping[PolicyName, tuple[Judge, Shapes]] = {
    "steering": (steering.steered, steering.SHAPES),
    "reinforce": (judges.on_average, SHAPES),
    "per-objective": (judges.per_objective, SHAPES),
}
"""What has weights of its own, in weights/NAME.safetensors."""


def policy_named(name: PolicyName, sac: Policy | None) -> Policy | None:
    """The policy of that name; None: the belief rule, also where SAC is asked for and there is none.

    `sac`: what SAC has learnt. Raises StoreError: JPO-E601 or JPO-E602, its weights are missing, damaged or of another version.
    """
    if name in OF_FILES:
        return as_named(name, load_policy(SHIPPED.with_name(f"{name}.safetensors"), OF_FILES[name][1]))
    if name in OF_SAC and sac is not None:
        return replace(sac, name=name, judge=OF_SAC[name])
    return sac if name == "sac" else None


def as_named(name: PolicyName, policy: Policy) -> Policy:
    """A trained policy as the alternative of that name, which has weights of its own."""
    return replace(policy, name=name, judge=OF_FILES[name][0])


def as_shipped(name: PolicyName) -> Policy | None:
    """The policy of that name as it came with JPO; None: the belief rule."""
    return policy_named(name, None if name in ("belief", *OF_FILES) else shipped_policy())
