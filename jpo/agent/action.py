"""Actions: configurations that can be executed, as rows of one candidate set.

Every free parameter has a ladder of values around today's, or the user's own choices. All combinations are taken while they are
few; else moves of one and two parameters from today's configuration and from the best one run, the nearest first. Deterministic.
"""

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from jpo.agent.search.scattered import scattered
from jpo.records import PARAMETERS, SAME, WHOLE, Candidates, Parameters, Run, Terms, Word, in_order, same

Rate = Callable[[Parameters], float]
Row = tuple[float, ...]
FACTORS: Mapping[str, tuple[float, ...]] = {
    "learning_rate": tuple(10 ** (i / 4) for i in range(-4, 5)),  # quarter decades, one decade to each side
    "epochs": (0.5, 0.75, 1.25, 1.5, 2.0),
    "cpus": (0.25, 0.5, 0.75, 1.5, 2.0, 4.0),
    "memory_gib": (0.5, 0.75, 1.25, 1.5, 2.0),
}
"""Ladders that are relative to today's value."""
SCALES = {"log": FACTORS["learning_rate"], "linear": (0.5, 0.75, 1.25, 1.5)}
"""Ladders that the user asks for by `scale`."""
DOUBLINGS = {"batch_size": 3, "gpus": 2}
"""Ladders of powers of two: the number of steps to each side of today's value."""
MOST_STEPS = 16
"""Ladder steps of each parameter in a move of several: two long lists of choices have millions of pairs."""
MOST_ELSEWHERE = 100
"""Newest configurations of siblings that become rows: each is one more to weigh."""
POWERS = {"linear": 1.0, "sqrt": 0.5}
"""How a parameter may follow another one."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may be proposed, and how configurations are made.

    Attributes:
        free: parameters that may change.
        admissible: the guard's word on (today's, proposed) values.
        choices: the user's own values per parameter, instead of a ladder; of batch and GPUs in all.
        scales: `{"learning_rate": "linear"}` or "log": another ladder than the parameter's own.
        follow: `{"learning_rate": "batch_size:sqrt"}` (or `:linear`): not free, but follows the other parameter.
        terms: of the file: ladders and moves are of its own numbers, so that a batch per device stays while GPUs change.
        as_written: what the file would say for such a number of a parameter, read back: memory in whole GB is no whole GiB.
        bounded: parameters whose largest value the user has named; of the others no more is asked for under "safe" than ever was.
        room_gib: the most host memory that one run may have, by [quota] or this machine.
        chosen: values set by hand; nothing else changes then but what follows them.
    """

    free: Collection[str]
    admissible: Callable[[Parameters, Parameters], bool] = lambda _today, _proposed: True
    choices: Mapping[str, Sequence[float]] = field(default_factory=dict)
    scales: Mapping[str, str] = field(default_factory=dict)
    follow: Mapping[str, str] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms)
    as_written: Callable[[str, float], float] = lambda _, number: number
    bounded: Collection[str] = PARAMETERS
    room_gib: float = math.inf
    chosen: Parameters = field(default_factory=dict)

    @property
    def followers(self) -> dict[str, str]:
        return {name: rule for name, rule in self.follow.items() if name in self.free}

    def ladders(self, current: Parameters) -> dict[str, tuple[float, ...]]:
        """The file's numbers of each parameter that changes by itself, in the order of PARAMETERS, then of `current`."""
        own = [name for name in in_order(current) if name in self.free and name not in self.follow]
        now = self.terms.in_file(current)
        return {name: self._rungs(name, current, now) for name in own}

    def _rungs(self, name: str, current: Parameters, now: Parameters) -> tuple[float, ...]:
        choices = self._choices(name, current, now)
        steps = _ladder(name, now[name], choices, self.scales.get(name))
        if choices is not None or name in WHOLE:
            return steps
        return tuple(sorted({step if step == now[name] else self.as_written(name, step) for step in steps}))

    def _choices(self, name: str, current: Parameters, now: Parameters) -> Sequence[float] | None:
        """The user's choices as numbers of the file, where everything else is as today."""
        choices = self.choices.get(name)
        if choices is None or current[name] == now[name]:
            return choices
        return [choice * now[name] / current[name] for choice in choices]


def propose_candidates(
    current: Parameters,
    runs: Sequence[Run],
    allowed: Allowed,
    *,
    log_rate: Rate,
    limit: int = 200,
    siblings: Sequence[Run] = (),
    around: Sequence[Parameters] = (),
) -> Candidates:
    """Candidate set: the configurations between which the agent chooses.

    Args:
        current: today's value of every parameter, held ones included; the columns of the result.
        runs: finished runs, oldest first. What a run did not report had today's value.
        log_rate: natural log of a configuration's price per hour, in any unit.
        limit: most rows, not counting those that were run.
        around: of a search, the best that ran: what is scattered around them and anywhere takes the place of moves.
        siblings: runs of the same job on other hardware. What was run there is a row, too, and the best there one to start from.

    Returns:
        Today's configuration as row 0; rows that were run and may not be proposed now (limits, held values) are kept, marked so.
    """
    names, ladders, follow, terms = in_order(current), allowed.ladders(current), allowed.followers, allowed.terms
    worded = {name for name in names if isinstance(current[name], Word)}
    one_of_each = _one_of_each(_row(current, names))
    measured = [(one_of_each(_row({**current, **run.parameters}, names)), run) for run in runs]
    elsewhere = [(one_of_each(_row({**current, **run.parameters}, names)), run) for run in siblings]
    others = dict.fromkeys(run.identity for run in siblings)  # on each hardware the best: durations of two are not compared
    best = [_best([pair for pair in elsewhere if pair[1].identity == other], names, log_rate) for other in others]
    best.insert(0, _best(measured, names, log_rate))
    now = terms.in_file(current)
    bases = [now, *({**now, **{name: terms.in_file(one)[name] for name in ladders}} for one in best if one)]
    rows: dict[Row, bool] = {}
    newest = itertools.islice(dict.fromkeys(row for row, _ in reversed(elsewhere)), MOST_ELSEWHERE)
    for row in (_row(current, names), *(row for row, _ in measured), *newest):
        if row not in rows:
            values = _values(row, names)
            held = all(value == now[name] for name, value in terms.in_file(values).items() if name not in allowed.free)
            rows[row] = held and same(values, followed(values, current, follow)) and allowed.admissible(current, values)
    room = len(rows) + limit - 1
    moves = _moves(bases, ladders, limit, worded, batch_per_device=terms.batch_per_device)
    if around and math.prod(map(len, ladders.values())) > limit:
        centres = [{**now, **{name: terms.in_file({**current, **one})[name] for name in ladders}} for one in around]
        moves = itertools.islice(scattered(centres, ladders, worded, len(runs)), 3 * limit)
    for move in moves:
        if len(rows) >= room:
            break
        proposed = followed(terms.in_all(move), current, follow)
        row = one_of_each(_row(proposed, names))
        if row not in rows and allowed.admissible(current, _values(row, names)):
            rows[row] = True
    rates = np.array([log_rate(_values(row, names)) for row in rows])
    return Candidates(
        names=names,
        values=np.array(list(rows), dtype=np.float64),  # (K, P)
        current=0,
        admissible=np.array(list(rows.values()), dtype=np.bool_),
        log_rate=rates - rates[0],
        words={name: _words(name, current, [*runs, *siblings], allowed) for name in worded},
    )


def _one_of_each(today: Row) -> Callable[[Row], Row]:
    """One number for values that are the same but for rounding: a log says 29.8023 GiB of a config.ini with 32G, and two rows
    of one configuration would be tried in turn for ever. Today's numbers come first."""
    columns = [{value: value} for value in today]

    def number(known: dict[float, float], value: float) -> float:
        if value not in known:
            known[value] = next((one for one in known.values() if math.isclose(one, value, rel_tol=SAME)), value)
        return known[value]

    return lambda row: tuple(map(number, columns, row))


def _words(name: str, current: Parameters, runs: Sequence[Run], allowed: Allowed) -> dict[float, float]:
    """What the numbers of a parameter stand for, as far as they are words of JPO's own."""
    ran = (run.parameters.get(name) for run in runs)
    return {float(word): word for word in (current[name], *ran, *allowed.choices.get(name, ())) if isinstance(word, Word)}


def _ladder(name: str, now: float, choices: Sequence[float] | None, scale: str | None) -> tuple[float, ...]:
    """Parameters to choose from, ascending, today's among them."""
    if choices is not None:
        return tuple(sorted({float(now), *map(float, choices)}))
    if now <= 0:  # no GPUs: nothing to multiply
        return (now,)
    if scale:
        steps = [_rounded(name, now * factor) for factor in SCALES[scale]]
    elif name in DOUBLINGS:
        middle, reach = math.floor(math.log2(now)), DOUBLINGS[name]
        steps = [2.0**i for i in range(max(0, middle - reach), middle + reach + 1)]
    elif name == "num_layers":
        steps = [now + i for i in (-2, -1, 1, 2)]
    else:
        steps = [_rounded(name, now * factor) for factor in FACTORS[name]]
    return tuple(sorted({now, *(step for step in steps if step > 0)}))


def _rounded(name: str, value: float) -> float:
    """Whole numbers where they are whole or at least 1 (cpus, memory); else two significant digits, as people write them."""
    if name in WHOLE or (name in ("cpus", "memory_gib") and value >= 1):
        return float(round(value))
    return float(f"{value:.2g}")


def _moves(
    bases: Sequence[Parameters],
    ladders: Mapping[str, tuple[float, ...]],
    limit: int,
    worded: Collection[str],
    *,
    batch_per_device: bool,
) -> Iterator[Parameters]:
    """Everything if it is little; else from each base what differs in few parameters by few steps, the nearest first."""
    if math.prod(len(ladder) for ladder in ladders.values()) <= limit:
        for values in itertools.product(*ladders.values()):
            yield {**bases[0], **dict(zip(ladders, values, strict=True))}
        return
    yield from _by_distance(bases, ladders, 1, worded)
    yield from _coordinated(bases, ladders, batch_per_device=batch_per_device)
    yield from _by_distance(bases, ladders, 2, worded)


def _by_distance(
    bases: Sequence[Parameters], ladders: Mapping[str, tuple[float, ...]], changed: int, worded: Collection[str]
) -> Iterable[Parameters]:
    """Moves of exactly `changed` parameters, those of fewest ladder steps first."""
    moves: list[tuple[int, Parameters]] = []
    for base in bases:
        away = {name: _steps(ladder, base[name], ordered=name not in worded) for name, ladder in ladders.items()}
        close = {name: [value for value, n in away[name].items() if changed == 1 or n <= MOST_STEPS] for name in ladders}
        for names in itertools.combinations(ladders, changed):
            for values in itertools.product(*(close[name] for name in names)):
                steps = [away[name][value] for name, value in zip(names, values, strict=True)]
                if all(steps):
                    moves.append((sum(steps), {**base, **dict(zip(names, values, strict=True))}))
    return [move for _, move in sorted(moves, key=lambda pair: pair[0])]


def _coordinated(
    bases: Sequence[Parameters], ladders: Mapping[str, tuple[float, ...]], *, batch_per_device: bool
) -> Iterator[Parameters]:
    """GPUs, batch size and learning rate grow or shrink together: the rate with the batch, or with its square root.

    Source: Goyal et al., "Accurate, Large Minibatch SGD", 2017 (linear); Krizhevsky, "One weird trick", 2014 (square root).
    """
    for base, factor, power in itertools.product(bases, (0.25, 0.5, 2.0, 4.0), (0.0, 0.5, 1.0)):
        wanted = {"batch_size": factor, "learning_rate": factor**power}
        for gpus in (1.0, factor):
            batch = factor / gpus if batch_per_device else factor
            wanted |= {"batch_size": batch, "gpus": gpus}
            scaled = {name: base[name] * by for name, by in wanted.items() if name in ladders}
            yield {**base, **{name: _nearest(ladders[name], value) for name, value in scaled.items()}}


def _steps(ladder: tuple[float, ...], base: float, *, ordered: bool) -> dict[float, int]:
    """How many rungs each value is away from the base's; where they have no order, all others are one away."""
    if not ordered:
        return {value: int(value != base) for value in ladder}
    at = ladder.index(_nearest(ladder, base))
    return {value: abs(i - at) for i, value in enumerate(ladder)}


def _nearest(ladder: tuple[float, ...], value: float) -> float:
    if min(value, *ladder) < 0:
        return min(ladder, key=lambda rung: abs(rung - value))
    return min(ladder, key=lambda rung: abs(math.log(max(rung, 1e-9) / max(value, 1e-9))))


def followed(move: Parameters, current: Parameters, follow: Mapping[str, str]) -> Parameters:
    """Set the parameters which follow others: by the leader's ratio to today, or its square root; today's value if that is 1."""
    values = dict(move)
    for name, rule in follow.items():
        leader, _, law = rule.partition(":")
        if name not in current or leader not in current:
            continue
        ratio = move[leader] / current[leader] if current[leader] else 1.0
        values[name] = current[name] if ratio == 1 else _rounded(name, current[name] * ratio ** POWERS[law])
    return values


def _best(measured: list[tuple[Row, Run]], names: tuple[str, ...], log_rate: Rate) -> Parameters | None:
    """The configuration of the run that ended well with the least time and cost, weighed equally."""
    measurements = [
        (math.log(seconds) + log_rate(values) / 2, values)
        for row, run in measured
        for values in [_values(row, names)]
        if run.ended_well and (seconds := run.outcome.duration_seconds)
    ]
    return min(measurements, key=lambda pair: pair[0])[1] if measurements else None


def _row(values: Parameters, names: tuple[str, ...]) -> Row:
    return tuple(float(values[name]) for name in names)


def _values(row: Row, names: tuple[str, ...]) -> Parameters:
    return dict(zip(names, row, strict=True))
