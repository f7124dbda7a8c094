"""`jpo learn`: update the agent of a workload from its history, or train a new policy in the simulator."""

from __future__ import annotations

from pathlib import Path

from jpo import learning
from jpo.agent.release import Release
from jpo.errors import UsageError
from jpo.evidence import limits_of, workload_of
from jpo.history import AuditEvent, Json, open_store
from jpo.layers import Loaded
from jpo.practice import Track
from jpo.proposal import wishes_of


def learn(path: Path, loaded: Loaded, *, rebuild: bool, seed: int, now: float, track: Track) -> str:
    """Take in the runs which this workload's agent does not know, and put its policy to the release test."""
    workload = workload_of(path, loaded, now=now)
    identity, budget = workload.identity, loaded.settings.agent.learn_budget
    with open_store(loaded.store_url, timeout_seconds=loaded.settings.store.timeout) as store:
        runs = store.runs_of(identity)
        wishes = wishes_of(workload, limits_of(workload, loaded), runs, loaded)
        learnt = learning.catch_up(store, identity, runs, wishes, seed=seed, budget_seconds=budget, rebuild=rebuild)
        told = [f"{identity}: {learnt.runs} runs learnt, {learnt.runs_in_all} altogether, {learnt.updates} updates"]
        told += [] if runs else ["no finished run is on record; `jpo observe` puts them there"]
        told += [f"{learnt.left} runs are left for the next time; give a larger --budget"] if learnt.left else []
        if learning.untested(store, identity):
            results = learning.release(store, identity, track)
            told += [verdict(explore, result) for explore, result in results.items()]
            released: list[Json] = [explore for explore, result in results.items() if result.passed]
            data: dict[str, Json] = {"runs": learnt.runs, "updates": learnt.updates, "released": released}
            store.audit(AuditEvent("learnt", now, identity, data))
    return "\n".join(told) + "\n"


def verdict(explore: str, result: Release) -> str:
    """One line about a release test: mean cost per run in multiples of the optimum's, of both on the same jobs."""
    word = "passed, the policy decides" if result.passed else "not passed, the belief rule decides"
    costs = f"cost {result.policy:.3f}, of the belief rule {result.rule:.3f}"
    ratio = f"ratio {result.ratio:.3f} ± {result.standard_error:.3f}"
    return f"release test, explore {explore}: {word}; on {result.jobs} simulated jobs; {costs}, {ratio}"


def pretrain(path: Path, *, updates: int | None, seed: int, track: Track) -> str:
    """Train a policy in the simulator and write it to `path`; says how its release test ended."""
    if path.suffix != ".safetensors":
        raise UsageError(str(path), "is no name for weights", "name a file that ends in .safetensors", code="JPO-E307")
    learning.need_torch()
    from jpo.practice import pretrain as train

    policy, results = train(updates=updates, seed=seed, track=track)
    try:
        path.write_bytes(policy)
    except OSError as error:
        raise UsageError(str(path), f"cannot be written ({error.strerror})", "name another file", code="JPO-E307") from error
    return "\n".join([f"{path}: {len(policy)} bytes", *(verdict(explore, result) for explore, result in results.items())]) + "\n"
