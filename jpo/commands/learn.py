"""`jpo learn`: update the agent of a workload from its history, or train a new policy in the simulator."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from jpo.agent.policy import MOST_BYTES
from jpo.errors import UsageError
from jpo.files import whole
from jpo.history.following.contradictions import contradictions
from jpo.learning import alternatives, continual
from jpo.learning.installation import residuals_here
from jpo.learning.practice import Track
from jpo.learning.release import Release, ReleaseTest, release_if_passed
from jpo.learning.serving import LEARNING
from jpo.project.collect import on_record
from jpo.project.load import LoadedSettings
from jpo.project.project import open_project
from jpo.project.request import request_of
from jpo.reading import contents
from jpo.records import Known, PolicyName
from jpo.wording.numbers import counted, percent_in_words, times


def learn(path: Path, settings: LoadedSettings, *, rebuild: bool, seed: int, now: float, track: Track) -> list[str]:
    """Take in the runs which this workload's agent does not know, and put its policy to the release test."""
    with open_project(path, settings, now=now) as job:
        store, identity, budget = job.store, job.workload.identity, None if rebuild else job.learn_budget_seconds
        recorded = on_record(store, job.workload)
        runs, others = recorded.runs, recorded.others
        reaches = contradictions(store, identity, job.workload.current).reaches
        request = request_of(job, runs, reaches=reaches)
        known = Known(runs, others, residuals=residuals_here(store, identity, (*others, *runs), learn=True))
        learnt = continual.catch_up(store, identity, known, request, seed=seed, now=now, budget_seconds=budget)
        lines = [f"{identity}: {learnt.runs} runs learnt, {learnt.runs_in_all} altogether, {learnt.updates} updates"]
        forks = counted(learnt.forks, "fork")
        lines += [f"{forks} played from the states before these runs: what else could have been run then"] if learnt.forks else []
        again = f"a new agent, which also learnt again from {counted(learnt.others, 'run')} of other workloads"
        lines += [again] if learnt.others else []
        unread = "what other workloads had taught could not be read; each of them teaches it anew when it next learns"
        lines += [unread] if learnt.unread else []
        lines += [] if runs else ["no finished run is on record; `jpo observe` puts them there"]
        why = "the forecasts showed that the world had changed" if request.resets == "evidence" else "as [agent] resets asks"
        lines += [f"{why}: begun anew {times(learnt.resets)}"] if learnt.resets else []
        lines += [f"{learnt.left} runs are left for the next time; give a larger --budget"] if learnt.left else []
        if request.policy not in LEARNING:
            lines.append(f"[agent] policy = {request.policy} decides, whatever SAC learns")
        if continual.untested(store):
            lines += verdicts(release_if_passed(store, track, now=now))
    return lines


def verdicts(test: ReleaseTest) -> list[str]:
    """Lines about a release test: mean cost per run of policy / belief rule on the same jobs, pooled and by situation."""
    word = "passed, the policy decides" if test.released else "not passed, who decided before still does"
    pooled = test.pooled
    harm = f"harm {percent_in_words(pooled.harm)}, of the belief rule {percent_in_words(pooled.rule_harm)}"
    lines = [f"release test: {word}; on {pooled.jobs} simulated jobs; {ratio(pooled)}; {harm}"]
    return lines + [f"  {name}: {ratio(result)} on {result.jobs} jobs" for name, result in test.situations.items()]


def ratio(result: Release) -> str:
    return f"ratio {result.ratio:.3f} ± {result.standard_error:.3f}"


def pretrain(path: Path, *, policy: PolicyName = "sac", jobs: int | None, seed: int, track: Track) -> list[str]:
    """Train a policy in the simulator and write it to `path`; says how SAC's release test ended, the others are not put to it.

    SAC is saved in `path`.part after each stage; called again, it goes on from there.
    """
    if path.suffix != ".safetensors":
        raise UsageError(str(path), "is no name for weights", "name a file that ends in .safetensors", code="JPO-E307")
    continual.need_torch()
    from jpo.learning.pretraining import pretrain as train

    if policy != "sac":
        return alternative(path, policy, jobs=jobs, seed=seed, track=track)
    part = path.with_name(f"{path.name}.part")
    unreadable = partial(UsageError, str(part), remedy="remove it", code="JPO-E307")
    try:
        begun = contents(part, MOST_BYTES, unreadable) if part.exists() else None
        file, test = train(jobs=jobs, seed=seed, track=track, part=begun, save=lambda state: replace(part, state))
        replace(path, file)
        part.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(str(path), f"cannot be written ({error.strerror})", "name another file", code="JPO-E307") from error
    lines = [f"going on from {part}"] if begun else []
    lines += [f"{path}: {len(file)} bytes", *(verdicts(test) if test else ())]
    return lines


def alternative(path: Path, policy: PolicyName, *, jobs: int | None, seed: int, track: Track) -> list[str]:
    """Train a policy that decides only where it is named, and write it to `path`."""
    file = alternatives.pretrain(policy, jobs=jobs, seed=seed, track=track)
    try:
        replace(path, file)
    except OSError as error:
        raise UsageError(str(path), f"cannot be written ({error.strerror})", "name another file", code="JPO-E307") from error
    return [f'{path}: {len(file)} bytes; decides only where jpo.toml says [agent] policy = "{policy}"']


def replace(path: Path, data: bytes) -> None:
    with whole(path) as new:
        new.write(data)
