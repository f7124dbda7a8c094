"""`jpo learn`: update the agent of a workload from its history, or train a new policy in the simulator.

A little of it follows each `jpo suggest`, once the answer is there.
"""

from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from math import inf
from pathlib import Path

from jpo.agent.policy import MOST_BYTES
from jpo.errors import JpoError, StoreError, UsageError
from jpo.files import whole
from jpo.files.reading import contents
from jpo.history import Store
from jpo.history.following.contradictions import contradictions
from jpo.learning import backlog, continual, named_policies
from jpo.learning.continual import Learnt, Round, catch_up
from jpo.learning.deadline import Deadline, in_seconds
from jpo.learning.kept_residuals import residuals_here
from jpo.learning.release import CERTAINTY_OF_LOOKS, SAVED_SECONDS, Candidate, Release, ReleaseTest, release_if_passed
from jpo.learning.serving import CACHE_TROUBLE, LEARNING, NOT_LEARNT, own_policy, policy_for
from jpo.optimizer.request import Request
from jpo.project.collect import on_record
from jpo.project.load import LoadedSettings
from jpo.project.plugins.hooks import in_context
from jpo.project.project import Project, open_project
from jpo.project.request import decider_of, learn_seconds_of, request_of
from jpo.records import Identity, Known, PolicyName, Spread, Track, in_turn, silently
from jpo.wording.numbers import counted, percent_in_words, times

MEANWHILE = "JPO-E506"
SLICE_SECONDS = 2.5  # of the release test after a suggestion, at most: a pipeline waits for it
DISTURBED = "another process learnt at the same time; nothing is lost, these runs are learnt the next time"


@dataclass(frozen=True, slots=True)
class LearnOptions:
    """Options of the command line; see `jpo learn --help`.

    Attributes:
        now: unix seconds, for the record.
        until: end of the whole command, the release test and its own start included.
        rebuild: forget what this workload taught, and learn from all runs with a new agent.
        spread: over which the jobs of the release test are.
    """

    now: float
    until: Deadline
    rebuild: bool = False
    seed: int = 0
    spread: Spread = in_turn


def learn(path: Path, settings: LoadedSettings, options: LearnOptions, track: Track) -> list[str]:
    """Take in the runs which this workload's agent does not know, and put its policy to the release test."""
    with open_project(path, settings, now=options.now) as job:
        store, identity = job.store, job.workload.identity
        known, request = known_on_record(job)
        learnt, disturbed = by_and_by(store, identity, known, request, options)
        lines = [learnt_line(identity, learnt, options), *remarks(learnt, request, runs=len(known.runs))]
        return [*lines, *([DISTURBED] if disturbed else []), tested_line(store, request, options, track)]


def learn_after_suggestion(
    path: Path, settings: LoadedSettings, *, now: float, seed: int, tests: bool = False, most_seconds: float = inf
) -> str:
    """Let the agent take in what is new, for as long as [agent] learn_budget says, `most_seconds` at most.

    `settings`: without targets and a preference that hold for this once: an agent that learnt from others begins anew. `tests`:
    up to half of the time is for the release test, in slices. Returns why nothing was learnt, with its code; "": all was.
    """
    seconds, (policy, *_) = min(most_seconds, learn_seconds_of(settings)), decider_of(settings)
    if seconds <= 0 or policy not in LEARNING or find_spec("torch") is None:
        return ""
    try:
        with open_project(path, settings, now=now) as job:
            known, request = known_on_record(job)
            tested = min(seconds / 2, SLICE_SECONDS) if tests else 0.0
            catch_up(job.store, job.workload.identity, known, request, Round(seed, now, seconds=seconds - tested))
            if tests and continual.untested(job.store):
                release_if_passed(job.store, silently, now=now, until=in_seconds(tested))
    except JpoError as error:
        if error.code in CACHE_TROUBLE:
            return f"{NOT_LEARNT['JPO-W605']} [JPO-W605]"
        return f"the agent did not learn: {error.in_short}"
    return ""


def known_on_record(job: Project) -> tuple[Known, Request]:
    """What there is to learn from: the runs on record, with what was known before each of them."""
    store, identity = job.store, job.workload.identity
    recorded = on_record(store, job.workload)
    runs, others = recorded.runs, recorded.others
    of_all_names = recorded.own.recorded if job.workload.aliases else None
    reaches = contradictions(store, identity, job.workload.current, of_all_names).reaches
    residuals = residuals_here(store, identity, (*others, *runs), learn=True)
    known = Known(runs, others, residuals=residuals, reaches=reaches)
    return in_context(in_context(known, job), job, "past_context"), request_of(job, known)


def by_and_by(store: Store, identity: Identity, known: Known, request: Request, options: LearnOptions) -> tuple[Learnt, bool]:
    """Learn in parts, each saved, so that neither a kill nor another process that learns costs more than one; half of the time
    is for the release test.

    Returns what was learnt, and whether another process learnt at the same time until there was no time left.
    """
    total, rebuild, end, seconds = Learnt(0, 0, 0, 0, 0), options.rebuild, options.until.half_way, SAVED_SECONDS
    while True:
        part = end if rebuild else end.no_later_than(seconds)
        wanted = Round(options.seed, options.now, part, rebuild=rebuild)
        try:
            learnt = catch_up(store, identity, known, request, wanted)
        except StoreError as error:
            if error.code != MEANWHILE:
                raise
            if options.until.past:
                return replace(total, left=backlog.left_of(store, identity, known.runs, request)), True
            end = options.until  # what is lost to another process is learnt again in the time of the test
            continue
        total, rebuild = total.followed_by(learnt), False
        if learnt.left and not learnt.runs:
            seconds *= 2  # of a long history, or on a busy machine, a part ended before its first run was ready
        if learnt.left and not total.runs and end.past:
            end = options.until  # starting took all of the half: something is learnt, if there is time for anything
        if end.past or not learnt.left:
            return total, False


def learnt_line(identity: Identity, learnt: Learnt, options: LearnOptions) -> str:
    """From how many runs, and how many are left."""
    if not learnt.runs and not options.rebuild:
        done = f"nothing new to learn of {identity}" if not learnt.left else f"nothing was learnt of {identity} in this time"
    else:
        done = f"learnt from {counted(learnt.runs, 'run' if options.rebuild else 'new run')} of {identity}"
    left = f"; {learnt.left} wait for the next time, or for a larger --budget" if learnt.left else ""
    return f"{done} ({learnt.runs_in_all} of all workloads so far){left}"


def remarks(learnt: Learnt, request: Request, *, runs: int) -> list[str]:
    """What is out of the ordinary."""
    again = f"a new agent, which also learnt again from {counted(learnt.others, 'run')} of other workloads"
    lines = [again] if learnt.others else []
    unread = "what other workloads had taught could not be read; each of them teaches it anew when it next learns"
    lines += [unread] if learnt.unread else []
    lines += [] if runs else ["no finished run is on record; `jpo observe` puts them there"]
    why = "the forecasts showed that the world had changed" if request.resets == "evidence" else "as [agent] resets asks"
    return lines + ([f"{why}: begun anew {times(learnt.resets)}"] if learnt.resets else [])


def tested_line(store: Store, request: Request, options: LearnOptions, track: Track) -> str:
    """How the release test ended, or how far it is, and who decides from now on."""
    said = "nothing new to test"
    if continual.untested(store):
        try:
            until, anew = options.until, options.rebuild
            result = release_if_passed(store, track, now=options.now, until=until, anew=anew, spread=options.spread)
            if isinstance(result, Candidate):
                played = f"{len(result.played)} of at most {len(result.seeds)} simulated jobs played"
                said = f"{played}, to be continued by the next `jpo learn`"
            else:
                said = how_it_ended(result)
        except StoreError as error:
            if error.code != MEANWHILE:
                raise
            said = "another process continued it meanwhile"
    return f"release test: {said}; {who_decides(store, request)}"


def how_it_ended(test: ReleaseTest) -> str:
    """The figures of the test, in percent of what a run costs under the belief rule."""
    pooled = test.pooled
    more, margin = pooled.ratio - 1, CERTAINTY_OF_LOOKS * pooled.standard_error
    cost = f"a run costs {abs(more):.1%} {'more' if more > 0 else 'less'} than by the belief rule, ± {margin:.1%}"
    return f"{'passed' if test.released else 'not passed'}; on {counted(pooled.jobs, 'simulated job')} {cost}"


def who_decides(store: Store, request: Request) -> str:
    """Who decides the next suggestions."""
    if request.policy not in LEARNING:
        return f"[agent] policy = {request.policy} decides, no matter what is learnt"
    policy = policy_for(store, request.boldness.explore, request.policy)
    if policy is None or not policy.released:
        return "the belief rule decides, which needs no learning"
    own = own_policy(store)
    return f"what {'was learnt here' if own and own.digest == policy.digest else 'came with JPO'} decides"


def verdicts(test: ReleaseTest) -> list[str]:
    """Lines about a release test: mean cost per run of policy / belief rule on the same jobs, pooled and by situation."""
    word = "passed, the policy decides" if test.released else "not passed; the previous policy still decides"
    pooled = test.pooled
    harm = f"harm {percent_in_words(pooled.harm)}, of the belief rule {percent_in_words(pooled.rule_harm)}"
    lines = [f"release test: {word}; on {pooled.jobs} simulated jobs; {ratio(pooled)}; {harm}"]
    return lines + [f"  {name}: {ratio(result)} on {result.jobs} jobs" for name, result in test.situations.items()]


def ratio(result: Release) -> str:
    return f"ratio {result.ratio:.3f} ± {result.standard_error:.3f}"


def pretrain(
    path: Path, *, policy: PolicyName = "sac", jobs: int | None, seed: int, spread: Spread = in_turn, track: Track
) -> list[str]:
    """Train a policy in the simulator and write it to `path`; says how SAC's release test ended. The others are not put to it:
    they decide only where they are named.

    SAC is saved in `path`.part after each stage; called again, it goes on from there.
    """
    if path.suffix != ".safetensors":
        raise UsageError(str(path), "is not a name for weights", "name a file that ends in .safetensors", code="JPO-E307")
    continual.load_torch()
    from jpo.learning.pretraining import pretrain as train

    if policy != "sac":
        file = named_policies.pretrain(policy, jobs=jobs, seed=seed, track=track)
        put(path, file)
        return [f'{path}: {len(file)} bytes; decides only where jpo.toml says [agent] policy = "{policy}"']
    part = path.with_name(f"{path.name}.part")
    unreadable = partial(UsageError, str(part), remedy="remove it", code="JPO-E307")
    try:
        begun = contents(part, MOST_BYTES, unreadable) if part.exists() else None
        file, test = train(jobs=jobs, seed=seed, spread=spread, track=track, part=begun, save=lambda state: put(part, state))
        put(path, file)
        part.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(str(path), f"cannot be written ({error.strerror})", "name another file", code="JPO-E307") from error
    lines = [f"continuing from {part}"] if begun else []
    return [*lines, f"{path}: {len(file)} bytes", *(verdicts(test) if test else ())]


def put(path: Path, data: bytes) -> None:
    with whole(path) as new:
        new.write(data)
