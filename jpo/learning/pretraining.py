"""Pretraining of the shipped policy: an ensemble practises on simulated jobs, and decides if it passes the release test.

A training that was interrupted goes on from its last stage, and ends in the same file as one that was not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jpo.agent.policy import SHAPES, Policy, mean_policy, save_policy
from jpo.agent.sealed import seal, unseal
from jpo.errors import StoreError, UsageError
from jpo.learning.continual import load_torch
from jpo.learning.forks import practise_with
from jpo.learning.release import RELEASE_JOBS, ReleaseTest, figures_of, release_test
from jpo.records import Spread, Track, in_turn, silently

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from jpo.agent.sac.fork_replay import Practice
    from jpo.agent.sac.learn import AgentState

JOBS = 3000
"""Simulated jobs on which the ensemble practises: about a quarter of an hour of one core."""
UPDATES_PER_TEN_JOBS = 4
"""Each fork is seen some ten times: at ten times as many updates the networks learnt its luck by heart, and forgot what earlier
jobs of an installation say (failures fell by 10% there instead of by half)."""
STAGES = 10
"""After each one the work is saved. The policy plays as it was at the stage's beginning; the result is the mean of the networks
over the last half, which no single late step can spoil."""
FORKS, TRANSITIONS = 40_000, 6_000
"""Capacities of the replays."""
TEST_SEED = 9_000_000
"""Jobs of the release test are drawn from here on; training draws from streams below it."""
FORMAT = "jpo training 2"


@dataclass(eq=False, slots=True)
class Training:
    """A training under way: the agent at work and its late stages so far."""

    agent: "AgentState"
    stages: list[Policy]
    stage: int


def pretrain(
    *,
    jobs: int | None = None,
    seed: int = 0,
    test_jobs: int | None = None,
    spread: Spread = in_turn,
    track: Track = silently,
    part: bytes | None = None,
    save: Callable[[bytes], None] = lambda _part: None,
) -> tuple[bytes, ReleaseTest | None]:
    """Train a policy on simulated jobs and put it to the release test. Uses one thread of torch.

    Args:
        jobs: simulated jobs; None: as many as the shipped policy's had.
        seed: of the networks and the jobs.
        test_jobs: most fresh jobs in the release test, none of them trained on; None: as many as the shipped policy's; 0: no
            test, released nowhere.
        spread: over which jobs are played; the result does not depend on it.
        part: what `save` was last given, by a training with the same jobs and seed; None begins anew.
        save: is given the state after each stage.

    Returns the policy file with its card (command, seed, figures), and the release test. Same arguments, same file. Raises
    StoreError: JPO-E601 or JPO-E603, `part` is damaged or from another version; UsageError: JPO-E605, from another training.
    """
    load_torch()  # only when something is learnt

    from jpo.agent.sac.learn import improve, new_agent, policy_of, take_in

    jobs, test_jobs = jobs or JOBS, RELEASE_JOBS if test_jobs is None else test_jobs
    plan = {"jobs": jobs, "seed": seed}
    fresh = Training(new_agent(seed, simulated_capacity=TRANSITIONS, fork_capacity=FORKS), [], 0)
    training = fresh if part is None else _loaded(part, plan)
    with spread(jobs) as workers:
        for stage in track(range(training.stage, STAGES), "practice"):
            policy = policy_of(training.agent)
            numbers = range(jobs * stage // STAGES, jobs * (stage + 1) // STAGES)
            for practice in workers(_practised, ((policy, seed * JOBS * STAGES + number) for number in numbers)):
                take_in(training.agent, practice)
            improve(training.agent, max(1, UPDATES_PER_TEN_JOBS * len(numbers) // 10))
            training.stage = stage + 1
            if stage >= STAGES // 2:
                training.stages.append(policy_of(training.agent))
            save(_saved(training, plan))
    policy = mean_policy(training.stages)
    test = release_test(policy, range(TEST_SEED, TEST_SEED + test_jobs), track, spread) if test_jobs else None
    card: dict[str, Any] = {
        "command": f"jpo learn --pretrain policy.safetensors --jobs {jobs} --seed {seed}",
        "updates": training.agent.updates,
        "release_test": figures_of(test) if test else {},
    }
    return save_policy(*policy.members, released=test.released if test else (), card=card), test


def _practised(policy: Policy, seed: int) -> "Practice":
    return practise_with(policy, np.random.default_rng(seed))


def _saved(training: Training, plan: dict[str, int]) -> bytes:
    from jpo.agent.sac.checkpoint import save_checkpoint

    arrays: dict[str, NDArray[Any]] = {
        f"stage{i}.{member}.{name}": weights[name]
        for i, policy in enumerate(training.stages)
        for member, weights in enumerate(policy.members)
        for name in SHAPES
    }
    arrays["agent"] = np.frombuffer(save_checkpoint(training.agent), np.uint8)
    members = len(training.agent.learners)
    counts = {"stages": len(training.stages), "members": members, "stage": training.stage}
    return seal(arrays, {"format": FORMAT, "plan": plan, **counts})


def _loaded(part: bytes, plan: dict[str, int]) -> Training:
    from jpo.agent.sac.checkpoint import load_checkpoint

    remedy = "delete it, or name another file"
    tensors, header = unseal(part, "interrupted training", remedy)
    if header.get("format") != FORMAT:
        raise StoreError("interrupted training", "was written by another version of JPO", remedy, code="JPO-E603")
    if header["plan"] != plan:
        begun = ", ".join(f"{name} {number}" for name, number in header["plan"].items())
        raise UsageError("interrupted training", f"was begun with {begun}", f"ask for the same, or {remedy}", code="JPO-E605")

    def stage(number: int) -> Policy:
        members = range(header["members"])
        return Policy(tuple({name: tensors[f"stage{number}.{i}.{name}"] for name in SHAPES} for i in members), (), {})  # type: ignore[misc]

    agent = load_checkpoint(tensors["agent"].tobytes())
    return Training(agent, [stage(number) for number in range(header["stages"])], header["stage"])
