"""Pretraining of the shipped policy: three agents practise on simulated jobs and decide together, if they pass the release test.

A training that was interrupted goes on from its last stage, and ends in the same file as one that was not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jpo.agent.policy import SHAPES, Policy, ensemble, mean_policy, save_policy
from jpo.agent.sealed import seal, unseal
from jpo.errors import StoreError, UsageError
from jpo.learning.practice import Track, practise_with, silently
from jpo.learning.release import release_test, released_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from jpo.agent.sac.learn import AgentState
    from jpo.learning.release import Release

SEEDS = 3
"""Agents that decide together: single ones differ by more than what there is to gain."""
JOBS = 1300
"""Simulated jobs on which each of them practises: about two minutes of one core."""
UPDATES_PER_JOB = 6
STAGES = 10
"""After each one the work is saved and the networks are noted; an agent's policy is the mean of the second half, which no single
late step can spoil."""
REPLAY_TRANSITIONS = 8_000
TEST_JOBS = 1080
TEST_SEED = 9_000_000
"""Jobs of the release test are drawn from here on; training draws from one stream that starts at its own small seed."""
FORMAT = "jpo training 1"


@dataclass(eq=False, slots=True)
class Training:
    """A training under way: `done` policies of finished seeds, the agent at work and its stages noted so far."""

    done: list[Policy]
    agent: AgentState
    stages: list[Policy]
    stage: int


def pretrain(
    *,
    jobs: int | None = None,
    seed: int = 0,
    test_jobs: int | None = None,
    track: Track = silently,
    part: bytes | None = None,
    save: Callable[[bytes], None] = lambda _part: None,
) -> tuple[bytes, dict[str, Release]]:
    """Train a policy on simulated jobs and put it to the release test. Uses one thread of torch.

    Args:
        jobs: simulated jobs per agent; None: as many as the shipped policy's had.
        seed: of the first agent; the others have the next ones.
        test_jobs: fresh jobs for the release test, none of them trained on; None: as many as the shipped policy's had; 0: no
            test, released nowhere.
        track: shows progress.
        part: what `save` was last given, by a training with the same jobs and seed; None begins anew.
        save: is given the state after each stage.

    Returns:
        The policy file with its card (command, seeds, figures), and the release test. Same arguments, same file.

    Raises:
        StoreError: JPO-E601 or JPO-E603, `part` is damaged or from another version; UsageError: JPO-E605, from another training.
    """
    import torch  # only when something is learnt

    from jpo.agent.sac.learn import new_agent, policy_of, practise

    torch.set_num_threads(1)  # faster than two on networks this small, and the same result everywhere
    jobs, test_jobs = jobs or JOBS, TEST_JOBS if test_jobs is None else test_jobs
    plan = {"jobs": jobs, "seed": seed}
    fresh = Training([], new_agent(seed, simulated_capacity=REPLAY_TRANSITIONS), [], 0)
    training = fresh if part is None else _loaded(part, plan)
    for _ in track(range(len(training.done) * STAGES + training.stage, SEEDS * STAGES), "practice"):
        n = jobs * (training.stage + 1) // STAGES - jobs * training.stage // STAGES
        practise(training.agent, practise_with, jobs=n, updates=UPDATES_PER_JOB)
        training.stage += 1
        if training.stage > STAGES // 2:
            training.stages.append(policy_of(training.agent))
        if training.stage == STAGES:
            training.done.append(mean_policy(training.stages))
            following = new_agent(seed + len(training.done), simulated_capacity=REPLAY_TRANSITIONS)
            training = Training(training.done, following, [], 0)
        save(_saved(training, plan))
    policy = ensemble(training.done)
    results = release_test(policy, track(range(TEST_SEED, TEST_SEED + test_jobs), "release test"))
    card: dict[str, Any] = {
        "command": f"jpo learn --pretrain policy.safetensors --jobs {jobs} --seed {seed}",
        "seeds": list(range(seed, seed + SEEDS)),
        "updates": jobs * UPDATES_PER_JOB,
        "release_test": {name: asdict(result) for name, result in results.items()},
    }
    return save_policy(*policy.members, released=released_for(results), card=card), results


def _saved(training: Training, plan: dict[str, int]) -> bytes:
    from jpo.agent.sac.checkpoint import save_checkpoint

    kept = {f"done{i}": policy for i, policy in enumerate(training.done)}
    kept |= {f"stage{i}": policy for i, policy in enumerate(training.stages)}
    arrays: dict[str, NDArray[Any]] = {f"{at}.{name}": policy.weights[name] for at, policy in kept.items() for name in SHAPES}
    arrays["agent"] = np.frombuffer(save_checkpoint(training.agent), np.uint8)
    counts = {"done": len(training.done), "stages": len(training.stages), "stage": training.stage}
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

    def policies(kind: str, count: int) -> list[Policy]:
        return [Policy({name: tensors[f"{kind}{i}.{name}"] for name in SHAPES}, (), {}) for i in range(count)]  # type: ignore[misc]

    agent = load_checkpoint(tensors["agent"].tobytes())
    return Training(policies("done", header["done"]), agent, policies("stage", header["stages"]), header["stage"])
