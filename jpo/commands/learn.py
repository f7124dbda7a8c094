"""`jpo learn`: update the agent of a workload from its history, or train a new policy in the simulator."""

from __future__ import annotations

from pathlib import Path

from jpo.errors import UsageError
from jpo.files import whole
from jpo.learning import continual
from jpo.learning.practice import Track
from jpo.learning.release import Release, release_if_passed
from jpo.project.load import LoadedSettings
from jpo.project.project import open_project
from jpo.project.request import request_of
from jpo.wording.numbers import times


def learn(path: Path, settings: LoadedSettings, *, rebuild: bool, seed: int, now: float, track: Track) -> str:
    """Take in the runs which this workload's agent does not know, and put its policy to the release test."""
    with open_project(path, settings, now=now) as job:
        store, identity, budget = job.store, job.workload.identity, None if rebuild else job.learn_budget_seconds
        runs = store.runs_of(identity)
        request = request_of(job, runs)
        learnt = continual.catch_up(store, identity, runs, request, seed=seed, now=now, budget_seconds=budget)
        lines = [f"{identity}: {learnt.runs} runs learnt, {learnt.runs_in_all} altogether, {learnt.updates} updates"]
        lines += [] if runs else ["no finished run is on record; `jpo observe` puts them there"]
        lines += [f"the forecasts showed that the world had changed: begun anew {times(learnt.resets)}"] if learnt.resets else []
        lines += [f"{learnt.left} runs are left for the next time; give a larger --budget"] if learnt.left else []
        if continual.untested(store, identity):
            results = release_if_passed(store, identity, track, now=now)
            lines += [verdict(name, result, results["drift"]) for name, result in results.items()]
    return "\n".join(lines) + "\n"


def verdict(name: str, result: Release, drift: Release) -> str:
    """One line about a release test: mean cost per run in multiples of the optimum's, of both on the same jobs.

    A policy that is worse when the world drifts decides nowhere, since nobody knows beforehand.
    """
    passed = "passed, the policy decides" if drift.passed else "passed, but not where the world drifts: the belief rule decides"
    word = passed if result.passed else "not passed, the belief rule decides"
    where = f"explore {name}" if name in ("safe", "on") else f"scenario {name}"
    costs = f"cost {result.policy:.3f}, of the belief rule {result.rule:.3f}"
    ratio = f"ratio {result.ratio:.3f} ± {result.standard_error:.3f}"
    return f"release test, {where}: {word}; on {result.jobs} simulated jobs; {costs}, {ratio}"


def pretrain(path: Path, *, jobs: int | None, seed: int, track: Track) -> str:
    """Train a policy in the simulator and write it to `path`; says how its release test ended.

    The work is saved in `path`.part after each stage; called again, it goes on from there.
    """
    if path.suffix != ".safetensors":
        raise UsageError(str(path), "is no name for weights", "name a file that ends in .safetensors", code="JPO-E307")
    continual.need_torch()
    from jpo.learning.pretraining import pretrain as train

    part = path.with_name(f"{path.name}.part")
    try:
        begun = part.read_bytes() if part.exists() else None
        policy, results = train(jobs=jobs, seed=seed, track=track, part=begun, save=lambda state: replace(part, state))
        replace(path, policy)
        part.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(str(path), f"cannot be written ({error.strerror})", "name another file", code="JPO-E307") from error
    lines = [f"going on from {part}"] if begun else []
    lines += [f"{path}: {len(policy)} bytes", *(verdict(name, result, results["drift"]) for name, result in results.items())]
    return "\n".join(lines) + "\n"


def replace(path: Path, data: bytes) -> None:
    with whole(path) as new:
        new.write(data)
