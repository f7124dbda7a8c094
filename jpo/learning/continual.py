"""Continuous learning: one agent takes in the runs of all workloads of a store, and the store keeps it.

The history is the truth, the agent a cache. torch is imported only when there is something to learn. Learning never puts a policy
in charge by itself; only `jpo learn` does, and only after the release test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from jpo.agent.policy import shipped_policy
from jpo.agent.sealed import Tensors, header_of, unseal_agent
from jpo.cost.sla import missed
from jpo.errors import StoreError, UsageError, words_of
from jpo.history import AuditEvent, Store
from jpo.history.following.followers import followers
from jpo.learning.backlog import fingerprint, learnable, waiting
from jpo.learning.deadline import Deadline, in_seconds
from jpo.learning.experience import experiences
from jpo.learning.forks import practise_here
from jpo.learning.own_history import OwnHistory
from jpo.learning.serving import AGENT, own_policy
from jpo.optimizer.request import Request
from jpo.records import Identity, Known, Run

if TYPE_CHECKING:
    from jpo.agent.sac.learn import AgentState


@dataclass(frozen=True, slots=True)
class Round:
    """How one round of learning is made.

    Attributes:
        seed: of a new agent.
        now: unix seconds, for the record.
        out_of_time: asked before each run; what it leaves waits for the next round. None: `seconds` from when torch is ready.
        rebuild: networks begin anew, also with what other workloads taught. An agent that cannot be read has forgotten that.
    """

    seed: int
    now: float
    out_of_time: Deadline | None = None
    seconds: float = float("inf")
    rebuild: bool = False


@dataclass(frozen=True, slots=True)
class Learnt:
    """Result of one round of learning.

    Attributes:
        runs: of the workload, taken in now.
        runs_in_all: of all workloads, taken in altogether.
        updates: gradient steps since the agent began.
        left: runs of the workload for the next time.
        resets: how often the agent began anew because the world had changed.
        forks: played now from the states before the runs.
        others: runs of other workloads from which a rebuilt agent learnt again.
        unread: whether the agent was rebuilt without what other workloads had taught, because that could not be read.
    """

    runs: int
    runs_in_all: int
    updates: int
    left: int
    resets: int
    forks: int = field(default=0, compare=False)
    others: int = 0
    unread: bool = False

    def followed_by(self, later: "Learnt") -> "Learnt":
        runs, forks = self.runs + later.runs, self.forks + later.forks
        return replace(later, runs=runs, forks=forks, others=self.others + later.others, unread=self.unread or later.unread)


def need_torch() -> None:
    if find_spec("torch") is None:
        raise UsageError("learning", "torch is not installed", 'pip install "jpo[learn]"', code="JPO-E604")


def load_torch() -> None:
    """Import torch, which takes a second, and let it use one thread: faster than two on networks this small, and the same result
    everywhere.

    Raises UsageError: JPO-E604, it is not installed, or cannot be imported.
    """
    need_torch()
    try:
        import torch
    except (ImportError, OSError) as error:  # a library of it is missing, or built for another machine
        finding, remedy = f"torch cannot be imported ({words_of(error)})", "install it anew: pip install --force-reinstall torch"
        raise UsageError("learning", finding, remedy, code="JPO-E604") from error
    torch.set_num_threads(1)


def catch_up(store: Store, identity: Identity, known: Known, request: Request, wanted: Round) -> Learnt:
    """Take in the runs of a workload that are new to the agent, oldest first, until the time is used up; save it, on record.

    What it learnt of this workload from a history which is no longer on record in that order, or under another preference, is
    forgotten and learnt anew. Where nothing is new torch is not imported. `known`: the workload's runs, and the residuals of the
    other jobs here, on whose like it practises.

    Raises:
        UsageError: JPO-E604, torch is not installed, or cannot be imported; JPO-E606, there was too little time to rebuild, and
            nothing was changed.
        StoreError: the saved agent is damaged, or another process saved one meanwhile.
    """
    need_torch()
    runs, rebuild, saved, name = known.runs, wanted.rebuild, store.load_agent(AGENT), str(identity)
    opened = _opened(saved[0] if saved else None, or_nothing=rebuild)
    if not rebuild and not waiting(opened and opened[1], identity, runs, request):
        done, resets, updates = progress_of(opened[1]) if opened else (0, 0, 0)
        return Learnt(0, done, updates, 0, resets)
    load_torch()

    from jpo.agent.sac.checkpoint import save_checkpoint
    from jpo.agent.sac.learn import WorkloadProgress, learn

    out_of_time = wanted.out_of_time or in_seconds(wanted.seconds)  # torch and what it imports take seconds on a busy machine
    agent = _agent(opened, wanted, known, name, out_of_time)
    others = agent.real.size if rebuild else 0
    progress = agent.progress.get(name, WorkloadProgress())
    if progress.history != fingerprint(runs, request, progress.runs):
        agent.real.forget(name)
        progress = WorkloadProgress()
    new = experiences(
        runs,
        request,
        seed=wanted.seed,
        first=progress.runs,
        followers=followers(store, store.recorded_runs(identity)),
        residuals=known.residuals,
        needs_after=known.needs_after,
    )
    history = OwnHistory(new, known.residuals)
    taken = learn(
        agent,
        history.transitions(),
        history.practise,
        workload=name,
        out_of_time=out_of_time,
        start=shipped_policy(),
        begin_anew=due(learnable(runs)[progress.runs :], request),
    )
    done = progress.runs + taken
    agent.progress[name] = WorkloadProgress(done, fingerprint(runs, request, done))
    left = max(0, len(learnable(runs)) - 1 - done)
    in_all = sum(each.runs for each in agent.progress.values())
    unread = bool(rebuild and saved and not opened)
    learnt = Learnt(taken, in_all, agent.updates, left, agent.resets, history.forks, others, unread)
    if taken or rebuild:
        event = AuditEvent("learnt", wanted.now, identity, {**asdict(learnt), "rebuilt": rebuild})
        store.save_agent(AGENT, save_checkpoint(agent), expected_version=saved[1] if saved else 0, event=event)
    return learnt


def _opened(saved: bytes | None, *, or_nothing: bool) -> tuple[Tensors, dict[str, Any]] | None:
    """The saved agent; None where there is none, or (`or_nothing`) none that can be read."""
    try:
        return None if saved is None else unseal_agent(saved)
    except StoreError:
        if or_nothing:
            return None
        raise


def _agent(
    opened: tuple[Tensors, dict[str, Any]] | None, wanted: Round, known: Known, workload: str, out_of_time: Deadline
) -> "AgentState":
    """The agent that takes in the runs: the saved one, where it is to be rebuilt one that learnt again, or a new one."""
    from jpo.agent.sac.checkpoint import agent_of
    from jpo.agent.sac.learn import learnt_again, new_agent

    start = shipped_policy()
    if opened is None:
        return new_agent(wanted.seed, start=start)
    agent = agent_of(*opened)
    if not wanted.rebuild:
        return agent
    practise = partial(practise_here, known.residuals)
    again = learnt_again(agent, wanted.seed, practise, workload=workload, start=start, out_of_time=out_of_time)
    if again is None:
        finding = "ended before a new agent had learnt again what other workloads taught; nothing was changed"
        remedy = "give a larger one, or leave it out: --rebuild then takes its time"
        raise UsageError("--budget", finding, remedy, code="JPO-E606")
    return again


def due(runs: Sequence[Run], request: Request) -> list[bool] | None:
    """Whether the agent begins anew with each run but the first, oldest first; None: evidence decides, see change_detection.py.

    The others are as earlier systems had them. A timer runs from the beginning of time, so that the same history gives the same
    resets. Of runs that break the SLA one after the other only the first counts.
    """
    if request.resets == "evidence":
        return None
    if request.resets == "broken-sla":
        broken = [missed(request.wanted.targets, run.completed(request.current), request.prices) > 0 for run in runs]
        return [now and not before for before, now in pairwise(broken)]
    every = request.resets
    return [earlier.ended_at // every != run.ended_at // every for earlier, run in pairwise(runs)]


def untested(store: Store) -> bool:
    """Whether the saved agent has learnt something since its policy was put to the release test."""
    agent, policy = store.load_agent(AGENT), own_policy(store)
    if agent is None:
        return False
    return policy is None or policy.card.get("learnt") != progress_of(header_of(agent[0]))


def progress_of(header: Mapping[str, Any]) -> list[int]:
    """Progress of an agent, by which its states are distinguished: runs, resets and updates only grow."""
    runs = sum(runs for runs, _ in header["progress"].values())
    return [int(runs), int(header["resets"]), int(header["updates"][0])]
