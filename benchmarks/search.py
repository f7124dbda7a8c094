"""Search for the best model of N runs: JPO beside random search and Optuna's TPE and GPSampler, on made-up losses.

A seed moves the optimum of each function by up to a tenth of each range and draws the noise, the same for all players. Everyone
begins with the same first run. What counts is what a player names as the best, and its loss without noise: JPO's `incumbent`,
and of the others the best measured. The judges were not looked at while JPO's search was built; the others were.

    python benchmarks/search.py [--seeds 10] [--runs 15 30] [--players A;B] [--functions A,B] [--which open|judges|all] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from apparatus.search_functions import FUNCTIONS, Function, Place, Values
from apparatus.stamp import stamp

from jpo import Advisor, Outcome, Range
from jpo.cli.output import track

if TYPE_CHECKING:
    from jpo.records import Floats


@dataclass(frozen=True)
class Game:
    """A function with the optimum of one seed: what a configuration's loss is, and how much of the way it leaves."""

    function: Function
    seed: int

    @property
    def shift(self) -> Place:
        rng = np.random.default_rng([self.seed, *self.function.name.encode()])
        return Place({name: rng.uniform(-0.1, 0.1) for name in self.function.space})

    def height(self, values: Values) -> float:
        """ln of the loss, without noise."""
        return float(self.function.surface(self.function.places([values]), self.shift)[0])

    def outcome(self, values: Values, run: int) -> Outcome:
        noise = self.function.noise * float(np.random.default_rng([self.seed, run]).standard_normal())
        return Outcome(duration_seconds=600.0, val_loss=0.5 * math.exp(self.height(values) + noise))

    def least(self) -> float:
        """The smallest height anywhere: of 100,000 random places, then of ever closer ones around the best."""
        rng, words = np.random.default_rng(0), [n for n, knob in self.function.space.items() if is_worded(knob)]
        steps = {name: len(knob) for name, knob in self.function.space.items() if name in words}  # type: ignore[arg-type]
        places = Place(
            {n: rng.integers(steps[n], size=100_000) if n in words else rng.random(100_000) for n in self.function.space}
        )
        for width in (0.1, 0.03, 0.01, 0.003, 0.001):
            best = int(np.argmin(self.function.surface(places, self.shift)))
            around = {n: p[best] + width * rng.standard_normal(5000) * (n not in words) for n, p in places.items()}
            places = Place(
                {
                    n: np.append(p, places[n][best]) if n in words else np.append(p, places[n][best]).clip(0, 1)
                    for n, p in around.items()
                }
            )
        return float(self.function.surface(places, self.shift).min())


def is_worded(knob: object) -> bool:
    return isinstance(knob, list) and isinstance(knob[0], str)


class Player(Protocol):
    """Who searches: asked for values, told what came of them, and asked for the best in the end."""

    def ask(self) -> Values: ...
    def tell(self, values: Values, outcome: Outcome) -> None: ...
    def best(self) -> Values: ...


class Jpo:
    """JPO as a library."""

    def __init__(self, game: Game, runs: int, **arguments: object) -> None:
        space, start = game.function.space, game.function.start
        self._advisor = Advisor(space, start, {"loss": 1.0}, seed=game.seed, horizon_runs=runs, **arguments)  # type: ignore[arg-type]

    def ask(self) -> Values:
        return self._advisor.ask().parameters

    def tell(self, values: Values, outcome: Outcome) -> None:
        self._advisor.tell(values, outcome)

    def best(self) -> Values:
        return self._advisor.incumbent


class Optuna:
    """A sampler of Optuna, with the first run enqueued. Ordered choices are their index, so that their order is known to it."""

    def __init__(self, game: Game, _runs: int, *, sampler: str) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space = game.function.space
        self._study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=game.seed))
        start = {
            n: knob.index(game.function.start[n]) if is_ordered(knob) else game.function.start[n]
            for n, knob in self._space.items()
        }  # type: ignore[attr-defined]
        self._study.enqueue_trial(start)
        self._tried: list[tuple[float, Values]] = []

    def ask(self) -> Values:
        self._trial = self._study.ask()
        return {name: self._value(name, knob) for name, knob in self._space.items()}

    def _value(self, name: str, knob: object) -> object:
        if is_worded(knob):
            return self._trial.suggest_categorical(name, knob)
        if is_ordered(knob):
            return knob[self._trial.suggest_int(name, 0, len(knob) - 1)]  # type: ignore[arg-type, index]
        if not isinstance(knob, Range):
            raise TypeError(name)
        if knob.integer:
            step = int(knob.multiple_of or 1)
            return self._trial.suggest_int(name, int(knob.low), int(knob.high), log=knob.log, step=step)
        return self._trial.suggest_float(name, knob.low, knob.high, log=knob.log)

    def tell(self, values: Values, outcome: Outcome) -> None:
        loss = math.log(outcome.val_loss or math.nan)
        self._study.tell(self._trial, loss)
        self._tried.append((loss, values))

    def best(self) -> Values:
        return min(self._tried, key=lambda pair: pair[0])[1]


def is_ordered(knob: object) -> bool:
    return isinstance(knob, list) and not is_worded(knob)


PLAYERS: Mapping[str, Callable[[Game, int], Player]] = {
    "jpo": partial(Jpo, goal="search"),
    "jpo, recurring": partial(Jpo, goal="recurring", explore="on"),
    **{
        name: partial(Optuna, sampler=sampler)
        for name, sampler in (("random", "RandomSampler"), ("tpe", "TPESampler"), ("gp", "GPSampler"))
    },
}


def left(game: Game, make: Callable[[Game, int], Player], runs: Sequence[int]) -> list[float]:
    """Share of the way from the start to the optimum that the best leaves, after each number of runs."""
    player, least, found = make(game, max(runs)), game.least(), []
    start = game.height(game.function.start)
    for run in range(max(runs)):
        values = player.ask()
        player.tell(values, game.outcome(values, run))
        if run + 1 in runs:
            found.append((game.height(player.best()) - least) / (start - least))
    return found


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Share of the way to the optimum that JPO and Optuna's samplers leave.")
    parser.add_argument("--seeds", type=int, default=10, help="searches of each function by each player (default: 10)")
    parser.add_argument("--runs", type=int, nargs="+", default=(15, 30), help="after how many runs (default: 15 30)")
    parser.add_argument("--players", default=";".join(PLAYERS), help="some of the players, between semicolons")
    parser.add_argument("--functions", help="some of the functions, between commas")
    parser.add_argument("--which", choices=("open", "judges", "all"), default="all", help="functions by their part")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of tables")
    options = parser.parse_args(argv)
    named = options.functions.split(",") if options.functions else [each.name for each in FUNCTIONS]
    chosen = [f for f in FUNCTIONS if f.name in named and (options.which == "all" or f.judge == (options.which == "judges"))]
    games = [Game(function, seed) for function in chosen for seed in range(options.seeds)]
    runs = sorted(options.runs)
    shares = {
        name: np.array([left(games[i], PLAYERS[name], runs) for i in track(range(len(games)), name)]).reshape(
            -1, options.seeds, len(runs)
        )
        for name in options.players.split(";")
    }  # (functions, seeds, runs)
    if options.json:
        print(
            json.dumps({"functions": [f.name for f in chosen], "runs": runs, "left": {n: s.tolist() for n, s in shares.items()}})
        )
    else:
        print(page(shares, chosen, runs))
    return 0


def page(shares: Mapping[str, Floats], functions: Sequence[Function], runs: Sequence[int]) -> str:
    """Markdown: for each number of runs the share left, per function and in the mean, and how the first player differs."""
    lines = [
        "## Search",
        "",
        f"{stamp()}.",
        f"{next(iter(shares.values())).shape[1]} searches of each function by each player.",
        LEGEND,
    ]
    first, *others = shares
    for at, n in enumerate(runs):
        lines += ["", f"| after {n} runs | {' | '.join(shares)} |", f"|---|{'---:|' * len(shares)}"]
        for i, function in enumerate(functions):
            mark = " (judge)" if function.judge else ""
            lines.append(f"| {function.name}{mark} | " + " | ".join(f"{s[i, :, at].mean():.3f}" for s in shares.values()) + " |")
        lines.append("| mean | " + " | ".join(f"{s[:, :, at].mean():.3f}" for s in shares.values()) + " |")
        ratios = [shares[first][:, :, at].mean() / s[:, :, at].mean() for s in shares.values()]
        lines.append(f"| {first}, as a ratio of each | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")
        for other in others:
            worse = [
                f.name for i, f in enumerate(functions) if interval(shares[first][i, :, at] - shares[other][i, :, at])[1] > 0
            ]
            middle, low, high = interval_of_means(shares[first][:, :, at] - shares[other][:, :, at])
            difference = f"{first} - {other}: {middle:+.3f} ({low:+.3f} to {high:+.3f})"
            lines += ["", f"{difference}; worse by more than its interval: {', '.join(worse) or 'nowhere'}."]
    return "\n".join(lines)


LEGEND = """\
Share of the way from the first run to the optimum, on ln of the loss, that the configuration named as the best leaves; 0 = the
optimum. Differences are paired, with 90% intervals over seeds."""


def interval(differences: Floats) -> tuple[float, float, float]:
    """Mean of paired differences, (seeds,), with its 90% interval."""
    half = 1.645 * float(differences.std(ddof=1)) / math.sqrt(len(differences)) if len(differences) > 1 else math.inf
    return float(differences.mean()), float(differences.mean()) - half, float(differences.mean()) + half


def interval_of_means(differences: Floats) -> tuple[float, float, float]:
    """The same for the mean over functions, (functions, seeds): these functions, other seeds."""
    return interval(differences.mean(axis=0))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
