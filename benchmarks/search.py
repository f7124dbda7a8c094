"""Search for the best model of N runs: JPO beside random search and Optuna's TPE and GPSampler, on functions of our own.

Each function is a loss over 2 to 8 knobs (continuous, whole numbers, choices, words), with 0 to 5% of noise. A seed moves the optimum
by up to a tenth of each range and draws the noise, the same for all players. Everyone begins with the same first run. What counts is
the configuration that a player names as the best, and its loss without noise: JPO's `incumbent`, and of the others the best measured.
The functions marked as judges were not looked at while JPO's search was built; the others were.

    python benchmarks/search.py [--seeds 10] [--runs 15 30] [--players A,B,...] [--functions A,B,...] [--judges|--open] [--json]
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

from apparatus.stamp import stamp

from jpo import Advisor, Outcome, Range
from jpo.cli.output import track

if TYPE_CHECKING:
    from jpo.records import Floats

Values = dict[str, object]
Knob = "Range | list[float] | list[str]"
Surface = Callable[["Place", "Place"], "Floats"]
"""(place, shift of the optimum) -> ln of the loss above a constant, on arrays."""


class Place(dict[str, "Floats"]):
    """Places of configurations in a space: 0..1 per number, on its own scale; the index per word."""

    def word(self, name: str, *values: float) -> Floats:
        """What each word of a knob is worth."""
        return np.array(values)[self[name].astype(int)]


@dataclass(frozen=True)
class Function:
    """Function to search: the loss of a job over its knobs.

    Attributes:
        start: the first run's values; noise: sd of ln of a run's loss; judge: whether it was kept back while search was built.
    """

    name: str
    space: Mapping[str, object]
    start: Values
    noise: float
    surface: Surface
    judge: bool = False

    def places(self, rows: Sequence[Values]) -> Place:
        return Place({name: np.array([place(knob, row[name]) for row in rows]) for name, knob in self.space.items()})


def place(knob: object, value: object) -> float:
    """Place of a value in its knob's range."""
    if not isinstance(knob, Range):
        index = knob.index(value)  # type: ignore[attr-defined]
        return float(index) if isinstance(value, str) else index / (len(knob) - 1)  # type: ignore[arg-type]
    low, high, at = ((math.log(v) if knob.log else v) for v in (knob.low, knob.high, float(value)))  # type: ignore[arg-type]
    return (at - low) / (high - low)


def finetuning(p: Place, s: Place) -> Floats:
    off = p["learning_rate"] - s["learning_rate"] - p.word("optimizer", 0.45, 0.2, 0.9, 0.6) - 0.15 * (p["batch_size"] - 0.5)
    lost = p.word("optimizer", 0.0, 0.02, 0.2, 0.06)
    return 2 * off**2 + 0.3 * (p["dropout"] - s["dropout"] - 0.3) ** 2 + 0.05 * (p["batch_size"] - 0.4) ** 2 + lost


def vision(p: Place, s: Place) -> Floats:
    off = p["learning_rate"] - s["learning_rate"] - 0.6 - 0.3 * (p["batch_size"] - 0.5)
    decay = p["weight_decay"] - s["weight_decay"] - 0.55
    return 1.5 * off**2 + 0.25 * (p["batch_size"] - s["batch_size"] - 0.3) ** 2 + 0.4 * decay**2


def boosted(p: Place, s: Place) -> Floats:
    valley = 0.8 * (p["eta"] + 0.7 * p["trees"] - 0.85 - s["eta"]) ** 2 + 0.15 * (p["eta"] - 0.4) ** 2
    depth = 0.5 * (p["max_depth"] - s["max_depth"] - 0.35) ** 2
    return valley + depth + 0.1 * np.abs(p["subsample"] - s["subsample"] - 0.7) + 0.1 * (p["reg_lambda"] - 0.4) ** 2


def eight(p: Place, s: Place) -> Floats:
    weights, best = (1, 0.6, 0.3, 0.15, 0.08, 0.04, 0.02, 0.01), (0.2, 0.75, 0.6, 0.1, 0.9, 0.3, 0.5, 0.8)
    return np.asarray(sum(w * (p[f"x{i}"] - s[f"x{i}"] - b) ** 2 for i, (w, b) in enumerate(zip(weights, best, strict=True))))


def near(p: Place, s: Place) -> Floats:
    return 1.2 * (p["learning_rate"] - s["learning_rate"] - 0.5) ** 2 + 0.8 * (p["dropout"] - s["dropout"] - 0.4) ** 2


def cliff(p: Place, s: Place) -> Floats:
    edge = 30 * (p["learning_rate"] - s["learning_rate"] + 0.4 * p["momentum"] - 0.3 * p["warmup_steps"] - 0.85)
    bowl = 0.5 * (p["learning_rate"] - 0.65) ** 2 + 0.2 * (p["momentum"] - 0.6) ** 2 + 0.1 * (p["warmup_steps"] - 0.4) ** 2
    return bowl + 1.5 / (1 + np.exp(-np.clip(edge, -50, 50)))


def language(p: Place, s: Place) -> Floats:
    off = p["learning_rate"] - s["learning_rate"] - 0.55 - 0.2 * (p["batch_size"] - 0.5) - 0.15 * (p["warmup_steps"] - 0.5)
    deep = 0.3 * (p["num_layers"] - s["num_layers"] - 0.7) ** 2
    decay = 0.1 * np.abs(p["weight_decay"] - s["weight_decay"] - 0.6)
    return 1.2 * off**2 + deep + decay + p.word("schedule", 0.05, 0.0, 0.15) + 0.1 * (p["warmup_steps"] - 0.3) ** 2


def recommender(p: Place, s: Place) -> Floats:
    width = 0.5 * (p["embedding"] - s["embedding"] - 0.6) ** 2
    bound = 0.8 * (p["learning_rate"] + 0.5 * p["l2"] - 0.9 - s["learning_rate"]) ** 2
    return width + bound + 0.4 * np.sqrt(0.01 + (p["negatives"] - 0.8) ** 2) + 0.2 * (p["l2"] - 0.5) ** 2


def valley(p: Place, s: Place) -> Floats:
    across = p["a"] + p["b"] - p["c"] - 0.4 - s["a"]
    along = p["a"] - p["b"] - 0.3 - s["b"]
    return 2 * across**2 + 0.3 * along**2 + 0.2 * (p["c"] - 0.8 - s["c"]) ** 2


def segmentation(p: Place, s: Place) -> Floats:
    off = p["learning_rate"] - s["learning_rate"] - p.word("loss", 0.3, 0.5, 0.65)
    crop = 0.4 * (p["crop"] - 0.9) ** 2 + 0.3 * p["crop"] * p["batch_size"]
    return off**2 + crop + p.word("loss", 0.12, 0.0, 0.04) + p.word("augmentation", 0.2, 0.08, 0.0, 0.05)


def forest(p: Place, s: Place) -> Floats:
    trees = 0.4 * np.exp(-4 * p["trees"])
    depth = 0.6 * (p["max_depth"] - s["max_depth"] - 0.6) ** 2
    return trees + depth + 0.3 * (p["leaf"] - 0.15) ** 2 + p.word("features", 0.1, 0.0, 0.03)


def detection(p: Place, s: Place) -> Floats:
    off = p["learning_rate"] - s["learning_rate"] - 0.6 - 0.25 * (p["batch_size"] - 0.5) + 0.3 * (p["momentum"] - 0.7)
    plain = 0.3 * (p["weight_decay"] - s["weight_decay"] - 0.5) ** 2 + 0.2 * (p["dropout"] - 0.2) ** 2
    late = 0.1 * (p["warmup_epochs"] - 0.5) ** 2 + 0.15 * (p["num_layers"] - s["num_layers"] - 0.6) ** 2
    return 1.5 * off**2 + plain + late + p.word("scheduler", 0.1, 0.03, 0.0) + 0.2 * (p["momentum"] - 0.7) ** 2


UNIT = Range(0.0, 1.0)
SHARE = Range(0.0, 0.5)
FUNCTIONS = (
    Function(
        "fine-tuning",
        {
            "learning_rate": Range(1e-6, 1e-3, log=True),
            "batch_size": [8, 16, 32, 64, 128],
            "dropout": SHARE,
            "optimizer": ["adamw", "lion", "sgd", "adafactor"],
        },
        {"learning_rate": 1e-5, "batch_size": 32, "dropout": 0.0, "optimizer": "sgd"},
        0.004,
        finetuning,
    ),
    Function(
        "vision",
        {
            "learning_rate": Range(1e-4, 1.0, log=True),
            "batch_size": Range(32, 1024, log=True, integer=True),
            "weight_decay": Range(1e-6, 1e-2, log=True),
        },
        {"learning_rate": 1e-3, "batch_size": 512, "weight_decay": 1e-6},
        0.01,
        vision,
    ),
    Function(
        "boosted",
        {
            "eta": Range(0.005, 0.5, log=True),
            "max_depth": Range(2, 12, integer=True),
            "subsample": Range(0.4, 1.0),
            "trees": Range(50, 2000, log=True, integer=True),
            "reg_lambda": Range(0.01, 100, log=True),
        },
        {"eta": 0.3, "max_depth": 6, "subsample": 1.0, "trees": 100, "reg_lambda": 1.0},
        0.005,
        boosted,
    ),
    Function("eight", {f"x{i}": UNIT for i in range(8)}, {f"x{i}": 0.5 for i in range(8)}, 0.0, eight),
    Function(
        "near",
        {"learning_rate": Range(1e-4, 1e-1, log=True), "dropout": SHARE},
        {"learning_rate": 1e-2, "dropout": 0.1},
        0.05,
        near,
    ),
    Function(
        "cliff",
        {"learning_rate": Range(1e-4, 1.0, log=True), "momentum": Range(0.0, 0.99), "warmup_steps": Range(0, 2000, integer=True)},
        {"learning_rate": 1e-3, "momentum": 0.0, "warmup_steps": 0},
        0.02,
        cliff,
    ),
    Function(
        "language",
        {
            "learning_rate": Range(1e-5, 1e-2, log=True),
            "batch_size": [16, 32, 64, 128, 256, 512],
            "num_layers": Range(2, 24, integer=True),
            "warmup_steps": Range(0, 4000, integer=True),
            "weight_decay": Range(1e-4, 1.0, log=True),
            "schedule": ["constant", "cosine", "step"],
        },
        {"learning_rate": 1e-4, "batch_size": 64, "num_layers": 6, "warmup_steps": 0, "weight_decay": 1e-4, "schedule": "constant"},
        0.01,
        language,
        judge=True,
    ),
    Function(
        "recommender",
        {
            "learning_rate": Range(1e-4, 1e-1, log=True),
            "embedding": [8, 16, 32, 64, 128, 256],
            "negatives": Range(1, 50, integer=True),
            "l2": Range(1e-7, 1e-2, log=True),
        },
        {"learning_rate": 1e-3, "embedding": 16, "negatives": 4, "l2": 1e-6},
        0.05,
        recommender,
        judge=True,
    ),
    Function("valley", {"a": UNIT, "b": UNIT, "c": UNIT}, {"a": 0.1, "b": 0.9, "c": 0.2}, 0.0, valley, judge=True),
    Function(
        "segmentation",
        {
            "learning_rate": Range(1e-5, 1e-1, log=True),
            "batch_size": [2, 4, 8, 16, 32],
            "crop": Range(128, 768, integer=True, multiple_of=32),
            "loss": ["ce", "dice", "focal"],
            "augmentation": ["none", "flip", "mix", "cut"],
        },
        {"learning_rate": 1e-4, "batch_size": 16, "crop": 256, "loss": "ce", "augmentation": "none"},
        0.02,
        segmentation,
        judge=True,
    ),
    Function(
        "forest",
        {
            "trees": Range(10, 1000, log=True, integer=True),
            "max_depth": Range(2, 30, integer=True),
            "leaf": Range(1, 50, integer=True),
            "features": ["all", "sqrt", "log2"],
        },
        {"trees": 20, "max_depth": 4, "leaf": 40, "features": "all"},
        0.005,
        forest,
        judge=True,
    ),
    Function(
        "detection",
        {
            "learning_rate": Range(1e-4, 1.0, log=True),
            "batch_size": [8, 16, 32, 64, 128],
            "num_layers": Range(18, 152, integer=True),
            "momentum": Range(0.0, 0.99),
            "weight_decay": Range(1e-6, 1e-2, log=True),
            "dropout": SHARE,
            "warmup_epochs": Range(0, 10, integer=True),
            "scheduler": ["none", "step", "cosine"],
        },
        {
            "learning_rate": 0.003,
            "batch_size": 16,
            "num_layers": 50,
            "momentum": 0.9,
            "weight_decay": 1e-6,
            "dropout": 0.5,
            "warmup_epochs": 0,
            "scheduler": "none",
        },
        0.03,
        detection,
        judge=True,
    ),
)


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
        places = Place({n: rng.integers(steps[n], size=100_000) if n in words else rng.random(100_000) for n in self.function.space})
        for width in (0.1, 0.03, 0.01, 0.003, 0.001):
            best = int(np.argmin(self.function.surface(places, self.shift)))
            around = {n: p[best] + width * rng.standard_normal(5000) * (n not in words) for n, p in places.items()}
            places = Place({n: np.append(p, places[n][best]) if n in words else np.append(p, places[n][best]).clip(0, 1) for n, p in around.items()})
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
        start = {n: knob.index(game.function.start[n]) if is_ordered(knob) else game.function.start[n] for n, knob in self._space.items()}  # type: ignore[attr-defined]
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
        assert isinstance(knob, Range)
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
    **{name: partial(Optuna, sampler=sampler) for name, sampler in (("random", "RandomSampler"), ("tpe", "TPESampler"), ("gp", "GPSampler"))},
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
        name: np.array([left(games[i], PLAYERS[name], runs) for i in track(range(len(games)), name)]).reshape(-1, options.seeds, len(runs))
        for name in options.players.split(";")
    }  # (functions, seeds, runs)
    if options.json:
        print(json.dumps({"functions": [f.name for f in chosen], "runs": runs, "left": {n: s.tolist() for n, s in shares.items()}}))
    else:
        print(page(shares, chosen, runs))
    return 0


def page(shares: Mapping[str, Floats], functions: Sequence[Function], runs: Sequence[int]) -> str:
    """Markdown: for each number of runs the share left per function and in the mean, and JPO's difference from each other player."""
    lines = ["## Search", "", f"{stamp()}.", f"{next(iter(shares.values())).shape[1]} searches of each function by each player.", LEGEND]
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
            worse = [f.name for i, f in enumerate(functions) if interval(shares[first][i, :, at] - shares[other][i, :, at])[1] > 0]
            middle, low, high = interval_of_means(shares[first][:, :, at] - shares[other][:, :, at])
            lines.append("")
            lines.append(f"{first} - {other}: {middle:+.3f} ({low:+.3f} to {high:+.3f}); worse by more than its interval: {', '.join(worse) or 'nowhere'}.")
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
