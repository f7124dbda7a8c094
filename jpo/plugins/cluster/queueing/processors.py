"""Equal processors: what is free, who runs on them, the reservation of the first of a queue, and who may go before it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from heapq import heappop, heappush

from jpo.plugins.cluster.workload.jobs import NEVER, JobTable, Whole


class ProcessorPool:
    def __init__(self, jobs: JobTable, processors: int, order: Whole | slice = slice(None)) -> None:
        """`order`: in which jobs are numbered, else as in the table."""
        self.free = processors
        self.needed, self.requested = jobs.processors[order].tolist(), jobs.requested_seconds[order].tolist()
        self._run = jobs.run_seconds[order].tolist()
        self.starts = [0.0] * len(jobs)
        self._running: list[tuple[float, int]] = []  # end, job
        self.ends: list[float] = []  # expected ends of running jobs, sorted
        self.held: list[int] = []  # their processors

    def next_end(self) -> float:
        return self._running[0][0] if self._running else NEVER

    def begin(self, job: int, now: float) -> None:
        """Start a job that fits."""
        self.free -= self.needed[job]
        self.starts[job] = now
        place = bisect_right(self.ends, now + self.requested[job])
        self.ends.insert(place, now + self.requested[job])
        self.held.insert(place, self.needed[job])
        heappush(self._running, (now + self._run[job], job))

    def end_until(self, now: float) -> None:
        running, ends, held = self._running, self.ends, self.held
        while running and running[0][0] <= now:
            job = heappop(running)[1]
            count = self.needed[job]
            self.free += count
            place = bisect_left(ends, self.starts[job] + self.requested[job])
            while held[place] != count:  # of equal ends any with as many processors will do
                place += 1
            del ends[place], held[place]

    def reservation(self, first: int) -> tuple[float, int]:
        """When a job can start that needs more than is free, if requests hold, and what it leaves over then."""
        available, place = self.free, -1
        while available < first:
            place += 1
            available += self.held[place]
        shadow = self.ends[place]
        return shadow, available + sum(self.held[place + 1 : bisect_right(self.ends, shadow)]) - first

    def pass_by(self, candidates: Iterable[int], now: float, shadow: float, extra: int) -> tuple[list[int], int]:
        """Start those, in their order, that fit and delay no reservation: they end by its time, or take what it leaves over.

        Who started, and what is left over by then.
        """
        begun, needed, requested = [], self.needed, self.requested
        for job in candidates:
            count = needed[job]
            if count > self.free:
                continue
            if now + requested[job] > shadow:
                if count > extra:
                    continue
                extra -= count
            self.begin(job, now)
            begun.append(job)
            if not self.free:
                break
        return begun, extra
