"""Queue ahead of a run that is submitted now: how long it would wait and how much is free, as its engine says.

Who has a deadline pays for waiting as for running: eight GPUs after two days are worth less than four at once.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from jpo.agent.safety.vetoes import Veto
from jpo.records import Belief, Candidates, Floats
from jpo.wording import numbers

TOO_LATE, TOO_MUCH = "JPO-I646", "JPO-I647"


@dataclass(frozen=True, slots=True)
class QueueWaits:
    """What an engine says of runs that are submitted now; what it does not say is missing, or None.

    Attributes:
        resource: "gpus", or "cpus" where a job asks for none: by how many of them a run asks for, its wait is told.
        waits: amount of it -> seconds before a run that asks for so many would start.
        free: how many of it are not in use.
        most: how many of it one run could have at most.
    """

    resource: str
    waits: Mapping[float, float] = field(default_factory=dict)
    free: float | None = None
    most: float | None = None

    def amounts(self, candidates: Candidates) -> Floats:
        """How many each candidate asks for, (K,); NaN where that is no parameter."""
        if self.resource not in candidates.names:
            return np.full(len(candidates.values), np.nan)
        return np.asarray(candidates.values[:, candidates.names.index(self.resource)])

    def wait_seconds(self, candidates: Candidates) -> Floats:
        """Seconds that a run of each candidate would wait, (K,); NaN where the engine did not say."""
        return np.array([self.waits.get(amount, math.nan) for amount in self.amounts(candidates).tolist()])

    @property
    def numbers(self) -> dict[str, float]:
        """All of it by name, in seconds and numbers, for the record."""
        found = {f"seconds that a run with {amount:g} {self.resource} would wait": wait for amount, wait in self.waits.items()}
        more = {f"{self.resource} that are free": self.free, f"{self.resource} that one run may have": self.most}
        return found | {name: amount for name, amount in more.items() if amount is not None}


def queue_vetoes(
    candidates: Candidates, belief: Belief, queue: QueueWaits | None, deadline_seconds: float | None = None
) -> Iterator[Veto]:
    """What the engine never gives to one run, and what would be done in time if it did not have to wait.

    `deadline_seconds`: until when a run must be done; None: nobody said, and waiting holds nothing.
    """
    if queue is None:
        return
    amounts = queue.amounts(candidates)
    if queue.most is not None and amounts[candidates.current] <= queue.most:
        words = f"asks for more {queue.resource} than the {queue.most:g} that one run may have now"
        yield Veto(amounts > queue.most, words, TOO_MUCH)
    if deadline_seconds is None or belief.duration_seconds is None:
        return
    seconds = belief.duration_seconds * np.exp(belief.weights @ belief.log_time)  # (K,)
    for amount, wait in sorted(queue.waits.items()):
        late = (amounts == amount) & (seconds + wait > deadline_seconds)
        waits = f"wait {numbers.duration(wait)} for its {amount:g} {queue.resource}, and " if wait else ""  # too slow anyway
        if late.any():
            yield Veto(late, f"would {waits}be done after the deadline", TOO_LATE)


def features_of(queue: QueueWaits | None, candidates: Candidates, belief: Belief) -> Floats:
    """Of each candidate ln (1 + wait / its duration), and ln of what is free for each that it asks for, each with whether it is
    known: (K, 4)."""
    rows = len(candidates.values)
    if queue is None or belief.duration_seconds is None:
        return np.zeros((rows, 4))
    seconds = belief.duration_seconds * np.exp(belief.weights @ belief.log_time)
    wait, amounts = queue.wait_seconds(candidates), queue.amounts(candidates)
    free = np.full(rows, np.nan) if queue.free is None else (queue.free + 1) / (np.maximum(amounts, 0) + 1)
    columns = (np.log1p(wait / seconds), np.log(free))
    return np.column_stack([part for column in columns for part in (np.nan_to_num(column), ~np.isnan(column))]).astype(np.float64)
