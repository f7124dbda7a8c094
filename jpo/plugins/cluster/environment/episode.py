"""Episode: jobs on a platform, decision by decision.

A decision is due whenever a job waits that could start. Action modes:

    job        start one of the first K waiting jobs that fit, or void: nothing more at this moment
    backfill   the first of the queue starts as soon as it fits; who goes before it meanwhile, or void: nobody more at this moment
    pair       start jobs by a pair of job and resource selection as far as they fit, or void: wait for the next event

Void is open only as long as something is still to happen, so that an episode always ends.
"""

from bisect import bisect_left, insort
from dataclasses import dataclass
from heapq import heapify, heappop
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.cluster.environment.rewards import SIGNS, EpisodeLedger
from jpo.plugins.cluster.machine.occupancy import Holding
from jpo.plugins.cluster.machine.placement import RESOURCES, Placement
from jpo.plugins.cluster.machine.shadow import Shadow
from jpo.plugins.cluster.machine.simulation import Simulation
from jpo.plugins.cluster.platform.platform import Platform
from jpo.plugins.cluster.queueing.selection import RANDOM, SELECTIONS, ranked, selection, waiting_rows
from jpo.plugins.cluster.workload.demand import DemandTable
from jpo.plugins.cluster.workload.jobs import JobTable

ActionMode = Literal["job", "backfill", "pair"]
PAIR_JOBS = {
    "random": "random",
    "first": "fcfs",
    "shortest": "sjf",
    "smallest": "smallest",
    "low_mem": "low_mem",
    "low_mem_bw": "low_mem_bw",
}
"""HDeepRM's job selections by their names there."""
PAIR_RESOURCES = ("random", "high_gflops", "high_cores", "high_mem", "high_mem_bw", "low_power")
PAIRS = tuple((job, resource) for job in PAIR_JOBS for resource in PAIR_RESOURCES)


@dataclass(frozen=True, slots=True)
class EpisodeOptions:
    """What an agent decides, and how the rest is decided.

    Attributes:
        slots: K, how many waiting jobs it chooses from.
        order: the job selection that sorts the queue; its keys must not change with time.
        resources: the resource selection of modes job and backfill.
        pairs: of mode pair.
        void: whether mode pair has it.
        queue_sensitivity: share by which a queue grows that an agent sees as 1; above 0.

    Raises ValueError: nothing could be decided so, or a name is unknown.
    """

    mode: ActionMode = "job"
    slots: int = 32
    order: str = "fcfs"
    resources: str = "first"
    pairs: tuple[tuple[str, str], ...] = PAIRS
    void: bool = True
    seed: int = 0
    queue_sensitivity: float = 1.0

    def __post_init__(self) -> None:
        if self.mode not in get_args(ActionMode):
            raise ValueError(f"mode {self.mode!r:.40} is none of {', '.join(get_args(ActionMode))}")
        if self.order != RANDOM and (self.order not in SELECTIONS or SELECTIONS[self.order].timed):
            raise ValueError(f"order {self.order!r:.40} is not a job selection whose keys stay")
        if self.resources not in RESOURCES:
            raise ValueError(f"resources {self.resources!r:.40} is none of {', '.join(RESOURCES)}")
        if self.slots < 1 or not self.pairs or not set(self.pairs) <= set(PAIRS):
            raise ValueError("there must be a slot at least, and pairs that are among PAIRS")

    @property
    def actions(self) -> int:
        """How many actions there are; void is the last one."""
        return len(self.pairs) + int(self.void) if self.mode == "pair" else self.slots + 1


class Episode:
    """Decisions about jobs that all fit the platform. `done` once all of them have ended."""

    def __init__(self, jobs: JobTable, demand: DemandTable, platform: Platform, options: EpisodeOptions) -> None:
        self.jobs, self.demand, self.options = jobs, demand, options
        self.simulation = Simulation(jobs, demand, platform)
        gpus = bool(demand.gpus.any())
        devices = platform.cores("gpu" if gpus else "cpu")
        work = (demand.tasks * (demand.gpus if gpus else demand.cpus)).tolist()
        self.ledger = EpisodeLedger(self.simulation, devices, work)
        seen = waiting_rows(jobs, demand=demand)
        names = [options.order] if options.mode != "pair" else list(dict.fromkeys(PAIR_JOBS[job] for job, _ in options.pairs))
        orders = {name: ranked(selection(name, seed=options.seed).key(seen, 0.0)) for name in names}
        self._in_order: dict[str, list[int]] = {name: order.tolist() for name, (order, _) in orders.items()}  # jobs by rank
        self._rank = {name: ranks for name, (_, ranks) in orders.items()}
        self._job = self._in_order[names[0]]
        self._order = self._rank[names[0]]
        resources = [options.resources] if options.mode != "pair" else list(dict.fromkeys(found for _, found in options.pairs))
        self._placements = {name: Placement(name, self.simulation.state, seed=options.seed) for name in resources}
        self._placement = self._placements[resources[0]]
        self._queue: list[int] = []  # ranks in the order of the options
        self._fits: dict[int, Holding | None] = {}
        self._seen: list[int] = []  # the jobs that actions number
        self._open: list[Holding | None] = []  # by action: what the job would get; None: the action is not open
        self._shadow = Shadow(self.simulation, self._placement) if options.mode == "backfill" else None
        self._reserved = -1  # the first of the queue, once it has a reservation since the last end
        self._before = self.ledger.metrics()
        self._left = len(jobs)
        self.done = False
        self._await_decision()

    def waiting(self) -> list[int]:
        """The jobs that actions number, at most as many as there are slots."""
        return self._first_waiting() if self.options.mode == "pair" else self._seen

    def _first_waiting(self) -> list[int]:
        job, first = self._job, int(self._shadow is not None)
        return [job[rank] for rank in self._queue[first : first + self.options.slots]]

    def mask(self) -> NDArray[np.bool_]:
        """Which actions are open; at least one while the episode goes on."""
        mask = np.zeros(self.options.actions, dtype=np.bool_)
        if self.options.mode == "pair":
            mask[: len(self.options.pairs)] = True
            mask[-1] |= self._to_come()
            return mask
        mask[: len(self._open)] = [allocation is not None for allocation in self._open]
        mask[-1] = self._to_come()
        return mask

    def _to_come(self) -> bool:
        return bool(self.simulation.running) or self.simulation.coming < len(self.jobs)

    def step(self, action: int) -> NDArray[np.float64]:
        """Take an action that is open, and let time pass until the next decision: the reward, in the order of METRICS.

        Raises ValueError: the action is not open.
        """
        if self.done:
            raise ValueError("the episode is over")
        if self.options.mode == "pair":
            self._pair(action)
        elif action == self.options.slots:
            if not self._to_come():
                raise ValueError("void is not open: nothing more would ever happen")
            self._advance()
        else:
            allocation = self._open[action] if 0 <= action < len(self._open) else None
            if allocation is None:
                raise ValueError(f"action {action} is not open")
            self._start(self._seen[action], allocation)
        self._await_decision()
        return self.reward()

    def reward(self) -> NDArray[np.float64]:
        """What there was since it was asked for the last time; `step` asks. The first one holds what no decision could change."""
        metrics = self.ledger.metrics()
        growth = metrics - self._before
        self._before = metrics
        return SIGNS * growth

    def _pair(self, action: int) -> None:
        pairs = self.options.pairs
        if 0 <= action < len(pairs):
            self._start_by(*pairs[action])
        elif not (action == len(pairs) and self.options.void and self._to_come()):
            raise ValueError(f"action {action} is not open")
        if self._queue and self._to_come():
            self._advance()

    def _start_by(self, job_selection: str, resources: str) -> None:
        """Start jobs in the order of a pair as long as the next one fits."""
        name, placement = PAIR_JOBS[job_selection], self._placements[resources]
        rank, in_order = self._rank[name], self._in_order[name]
        waiting = [rank[self._job[place]] for place in self._queue]
        heapify(waiting)  # mostly none or one of them starts
        while waiting:
            job = in_order[heappop(waiting)]
            allocation = placement.place(self.simulation.state, self.simulation.need[job])
            if allocation is None:
                break
            self._start(job, allocation)

    def _start(self, job: int, allocation: Holding, *, in_turn: bool = False) -> None:
        self.simulation.start(job, allocation)
        if self._shadow is not None:
            self._shadow.started(job, in_turn=in_turn)
        del self._queue[bisect_left(self._queue, self._order[job])]
        self.ledger.started(job)
        if self._fits:  # what did not fit does not fit now either
            self._fits = {need: None for need, found in self._fits.items() if found is None}

    def _advance(self) -> None:
        ended, came = self.simulation.advance()
        ledger = self.ledger
        ledger.pass_time(self.simulation.now)
        for job in ended:
            ledger.ended(job)
            if self._shadow is not None:
                self._shadow.ended(job)
        self._left -= len(ended)
        for job in came:
            ledger.came(job)
            insort(self._queue, self._order[job])
        if ended:
            self._fits = {}
            self._reserved = -1

    def _await_decision(self) -> None:
        """Let time pass until there is something to decide, or all jobs have ended."""
        while True:
            if self._queue and self._due():
                return
            if not self._left:
                self.done = True
                return
            self._advance()

    def _due(self) -> bool:
        if self.options.mode == "pair":
            return True
        if self._shadow is not None:
            self._start_head()
            if len(self._queue) < 2:  # nobody waits behind the first one
                self._seen, self._open = [], []
                return False
        self._seen = self._first_waiting()
        self._open = [self._could_start(job) for job in self._seen]
        if self._shadow is not None and any(self._open):
            self._close_what_delays(self._shadow)
        return any(self._open)

    def _close_what_delays(self, shadow: Shadow) -> None:
        """Leave open who ends before the reservation of the first of the queue, or takes what that leaves over."""
        simulation, head = self.simulation, self._job[self._queue[0]]
        if self._reserved != head:
            shadow.reserve(head)
            self._reserved = head
        now, requested, need, moment = simulation.now, simulation.requested, simulation.need, shadow.moment
        for place, (job, allocation) in enumerate(zip(self._seen, self._open, strict=True)):
            if allocation is None or now + requested[job] / simulation.speed_on(job, allocation) <= moment:
                continue
            if not (shadow.leaves_devices(need[job]) and shadow.leaves(allocation)):
                self._open[place] = None

    def _start_head(self) -> None:
        while self._queue:
            head = self._job[self._queue[0]]
            allocation = self._could_start(head)
            if allocation is None:
                return
            self._start(head, allocation, in_turn=True)
            self._reserved = -1  # also where the next one had its reservation before this one came

    def _could_start(self, job: int) -> Holding | None:
        """What a waiting job would get if it started now, whoever is delayed."""
        need = self.simulation.need[job]
        known = id(need)  # jobs that need the same have the same object, and hashing a tuple takes as long as placing one
        if known not in self._fits:
            self._fits[known] = self._placement.place(self.simulation.state, need)
        return self._fits[known]
