"""A careful hill climb: what a patient engineer does by hand."""

import numpy as np

from jpo.plugins.lab.replay.ladders import next_step, steps_of
from jpo.plugins.lab.replay.play import ReplayProblem
from jpo.records import Outcome


class HillClimb:
    """A hill climb from the default, one step of one knob at a time; the cheapest configuration is the next to climb from.

    A neighbour is tried once. The direction that helped last comes first, the others in an order drawn with the seed. With no
    neighbour left the cheapest configuration is run again; repeated runs count by their mean, so lucky runs do not last.
    """

    def __init__(self, problem: ReplayProblem) -> None:
        self._steps = steps_of(problem.configurations)
        moves = [(knob, direction) for knob in range(self._steps.shape[1]) for direction in (1, -1)]
        self._moves = [moves[index] for index in np.random.default_rng(problem.seed).permutation(len(moves))]
        self._charges: dict[int, list[float]] = {}
        self._here = problem.default
        self._move: tuple[int, int] | None = None

    def ask(self) -> int:
        for move in self._moves:
            row = next_step(self._steps, self._here, *move)
            if row is not None and row not in self._charges:
                self._move = move
                return row
        self._move = None
        return self._here

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        self._charges.setdefault(choice, []).append(charge)
        self._here = min(self._charges, key=lambda row: float(np.mean(self._charges[row])))
        if self._here == choice and self._move:
            self._moves.sort(key=lambda move: move != self._move)
