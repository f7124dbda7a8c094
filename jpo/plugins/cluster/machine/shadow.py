"""Shadow: when the first of the queue can start on a platform if running jobs end as expected, and what it leaves over then.

What would be free at that moment is followed while jobs start and end, so that a new reservation looks at few running jobs: those
that end between the last one and this one. Jobs that fit stay fitting when more is free, which is why the moment is one boundary
among the expected ends. Totals of the platform are always right and mostly enough; what is free on each processor is brought
up to date when somebody asks.
"""

from bisect import bisect_right

from jpo.plugins.cluster.machine.occupancy import Holding, Need
from jpo.plugins.cluster.machine.placement import Placement
from jpo.plugins.cluster.machine.simulation import Simulation
from jpo.plugins.cluster.workload.jobs import NEVER


class Shadow:
    """The reservation of the first of a queue; EASY's shadow time and what is spare at it.

    `moment`: when it can start; jobs expected to end by then count as ended. NEVER: no reservation is followed.
    """

    def __init__(self, simulation: Simulation, placement: Placement) -> None:
        self._simulation, self._placement = simulation, placement
        self._drawn = placement.name == "random"
        # A phase changes what is free by itself, and each look of a placement that draws lots draws.
        self._anew = self._drawn or any(need.phases for need in simulation.need)
        self._at_once = self._drawn or placement.name == "phase_pack"  # what the first one gets depends on when that is asked
        self.moment = NEVER
        self._of = -1

    def forget(self) -> None:
        """Nobody waits: no reservation is followed until the next one."""
        self.moment = NEVER

    def _begin(self) -> None:
        """Follow from now on what is free if nobody ends."""
        self.moment = -NEVER
        self._left = self._simulation.state.copy()  # free at the moment if nobody else starts, but for what follows
        self._behind: dict[int, int] = {}  # jobs to be taken from it (1), or given back (-1)
        self._cpus, self._gpus = self._left.left  # these are up to date
        self._head: Need | None = None  # who has the reservation
        self._held: Holding | None = None  # what it gets, taken from what is left; None: not asked yet
        self._of = -1  # the job that the reservation is of, as long as it is certain to fit at the moment

    def started(self, job: int, *, in_turn: bool) -> None:
        """A job started: in its turn, or before it because it delays nobody."""
        if in_turn:
            self._of = -1
        if self._simulation.expected[job] > self.moment:
            self._change(job, 1)

    def ended(self, job: int) -> None:
        if self._simulation.expected[job] > self.moment:
            self._change(job, -1)

    def _change(self, job: int, sign: int) -> None:
        need = self._simulation.need[job]
        self._cpus -= sign * need.tasks * need.cpus
        self._gpus -= sign * need.tasks * need.gpus
        if job in self._behind:  # taken and given back
            del self._behind[job]
        else:
            self._behind[job] = sign

    def reserve(self, job: int) -> None:
        """Make the reservation of a job that does not fit by now."""
        head = self._simulation.need[job]
        if self.moment == NEVER or self._anew:
            self._begin()
        if self._held is not None:
            assert self._head is not None
            self._left.take(self._held, self._head, sign=-1)
            self._cpus += self._head.tasks * self._head.cpus
            self._gpus += self._head.tasks * self._head.gpus
            self._held = None
        self._head = head
        self._move(head, certain=job == self._of)
        self._of = job
        if self._at_once and self._held is None:
            self._hold()

    def _move(self, head: Need, *, certain: bool) -> None:
        """To the first expected end at which the head fits."""
        due = self._simulation.due
        place = bisect_right(due, (self.moment, NEVER))
        if certain or (place and self._fits(head)):
            while place:  # earlier, as long as it fits there too
                moment, before = due[place - 1][0], place - 1
                while before and due[before - 1][0] == moment:
                    before -= 1
                self.moment = moment
                if not before:
                    return
                self._count(before, place, sign=1)
                if not self._fits(head):
                    self._count(before, place, sign=-1)
                    return
                place = before
        while place < len(due):
            moment, after = due[place][0], place + 1
            while after < len(due) and due[after][0] == moment:
                after += 1
            self._count(place, after, sign=-1)
            place, self.moment = after, moment
            if self._fits(head):
                return
        raise AssertionError("every job fits the empty platform")

    def _fits(self, head: Need) -> bool:
        if self._drawn:
            self._hold()
            return self._held is not None
        if self._gpus < head.tasks * head.gpus or self._cpus < head.tasks * head.cpus:
            return False
        if head.is_of_single_cores:
            return True
        self._catch_up()
        return self._placement.fits(self._left, head)

    def _count(self, first: int, last: int, *, sign: int) -> None:
        """Count some of the running jobs, in the order of their expected ends, as ended (-1) or not (1)."""
        for _, job in self._simulation.due[first:last]:
            self._change(job, sign)

    def _catch_up(self) -> None:
        simulation, left = self._simulation, self._left
        for job, sign in self._behind.items():
            left.take(simulation.allocations[job], simulation.need[job], sign=sign)
        self._behind.clear()

    def _hold(self) -> None:
        """Give the first one what it gets at its moment."""
        head = self._head
        assert head is not None
        self._catch_up()
        self._held = self._placement.place(self._left, head)
        if self._held is not None:
            self._left.take(self._held, head)
            self._cpus -= head.tasks * head.cpus
            self._gpus -= head.tasks * head.gpus

    def leaves_devices(self, need: Need) -> bool:
        """Whether as many CPU cores and GPUs are left over as a job needs, wherever they are."""
        head = self._head
        assert head is not None
        cpus, gpus = need.tasks * need.cpus, need.tasks * need.gpus
        if self._held is None:
            cpus += head.tasks * head.cpus
            gpus += head.tasks * head.gpus
        return cpus <= self._cpus and gpus <= self._gpus

    def leaves(self, allocation: Holding) -> bool:
        """Whether the first one leaves over, at its moment, what an allocation takes."""
        if self._held is None:
            self._hold()
        self._catch_up()
        left, memory = self._left, allocation.memory
        for place, count in allocation.cores:
            if left.free[place] < count:
                return False
        if len(memory) > 1:
            by_node: dict[int, float] = {}
            for node, gib in memory:
                by_node[node] = by_node.get(node, 0.0) + gib
            memory = tuple(by_node.items())
        return all(left.memory[node] >= gib * (1 - 1e-9) for node, gib in memory)
