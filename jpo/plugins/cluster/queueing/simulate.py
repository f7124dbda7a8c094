"""A workload on a machine of equal processors under a rule: which jobs start when."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from jpo.plugins.cluster.queueing.conservative import conservative
from jpo.plugins.cluster.queueing.ranked import first_come, in_turn
from jpo.plugins.cluster.queueing.selection import selection, waiting_rows
from jpo.plugins.cluster.queueing.timed import timed
from jpo.plugins.cluster.workload.jobs import JobTable, Seconds

Backfilling = Literal["none", "easy", "conservative"]
BACKFILLINGS: tuple[Backfilling, ...] = get_args(Backfilling)
ELASTIC = "elastic"


@dataclass(frozen=True, slots=True)
class Rule:
    """How a queue is worked off: in which order, whether jobs may go before their turn, and which resources they get.

    `resources`: a resource selection of machine/placement.py; empty where processors are all alike. `elastic`: whether running
    jobs are resized within their ranges, see machine/elastic.py.
    """

    selection: str
    backfilling: Backfilling = "none"
    resources: str = ""
    elastic: bool = False

    @property
    def name(self) -> str:
        """As --fail-if and reports call it: "saf", "saf+easy", "saf-best_fit+easy+elastic"."""
        chosen = f"{self.selection}-{self.resources}" if self.resources else self.selection
        backfilling = () if self.backfilling == "none" else (self.backfilling,)
        return "+".join((chosen, *backfilling, *((ELASTIC,) if self.elastic else ())))


def simulate(jobs: JobTable, processors: int, rule: Rule, *, seed: int = 0) -> Seconds:
    """When each job starts, in seconds; shape (jobs,). `seed`: of the selection `random`.

    Raises ValueError: a job needs more processors than there are, so that it could never run.
    """
    if len(jobs) and int(jobs.processors.max()) > processors:
        raise ValueError(f"a job needs {int(jobs.processors.max())} of {processors} processors")
    chosen = selection(rule.selection, seed=seed)
    if rule.backfilling == "conservative":
        return np.array(conservative(jobs, processors, chosen))
    backfilling = rule.backfilling == "easy"
    if chosen.timed:
        return np.array(timed(jobs, processors, chosen, backfilling=backfilling))
    if rule.selection == "fcfs" and not backfilling:
        return np.array(first_come(jobs, processors))
    return np.array(in_turn(jobs, processors, chosen.key(waiting_rows(jobs), 0.0), backfilling=backfilling))
