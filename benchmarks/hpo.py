"""Hyper-parameter search on LCBench tables: how fast JPO and its peers approach the optimum, and the cost of their runs.

Four knobs (batch size, learning rate, layers, epochs), time and error weighed equally: value = sqrt(seconds x error), on logs.
Each search starts with the reference default, as a config.ini would hold it. Tables are taken from ../shared/hpo or --tables;
without them, tasks drawn from JPO's own simulator stand in, which flatters JPO, since they are what it believes in.

    python benchmarks/hpo.py [--seeds 3] [--quick] [--tables FOLDER] [--policies A,B,...] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from apparatus.stamp import stamp

from jpo import Advisor, Outcome
from jpo.cli.output import track
from jpo.optimizer.prior import prior_of
from jpo.plugins.lab.replay.play import ReplayPolicy, ReplayProblem
from jpo.plugins.lab.replay.policies import POLICIES
from jpo.records import Candidates
from jpo.simulate import draw_jobs

if TYPE_CHECKING:
    from jpo.records import Floats

ROOT = Path(__file__).parents[1]
GRID = "lcbench_surrogate_grid.parquet"
EPOCHS = (12, 25, 50)
DEFAULT = {"batch_size": 128.0, "learning_rate": 0.01, "num_layers": 3.0, "epochs": 50.0}
AFTER = (1, 3, 5, 10, 20)
WEIGHTS = {"time": 0.5, "loss": 0.5}
UNSHIPPED = partial(prior_of, shipped=False)
"""The surfaces that come with JPO were fitted to these very tables: they must not be known here."""
KNOWN_RUNS = 60
"""Runs of each other task that are known where other tasks are known."""
FLOOR = 1e-3
"""An error below one in a thousand counts as that: the surrogate is no finer."""


@dataclass(frozen=True, eq=False)
class Task:
    """A table: seconds and error of every configuration, shape (K,) each."""

    name: str
    configurations: tuple[dict[str, float], ...]
    default: int
    seconds: Floats
    error: Floats

    @property
    def value(self) -> Floats:
        """Natural log of sqrt(seconds x error), smaller is better."""
        return 0.5 * np.log(self.seconds) + 0.5 * np.log(self.error)

    def outcome(self, row: int) -> Outcome:
        return Outcome(duration_seconds=float(self.seconds[row]), val_loss=float(self.error[row]))


@dataclass(frozen=True)
class Figures:
    """What a policy came to, means over tasks and seeds.

    Attributes:
        regret: after N new runs: (best so far - optimum) / (default - optimum) on logs; 1 as the default, 0 the optimum.
        error: standard error of the regret over searches.
        cost: mean value of the new runs, in multiples of the default's.
        worse: share of the new runs that were worse than the default.
    """

    regret: dict[int, float]
    error: dict[int, float]
    cost: float
    worse: float


Make = Callable[[Task, Sequence[Task], int], ReplayPolicy]
"""(task, all tasks, seed) -> a policy that plays it."""


class Advised:
    """JPO; with `known_runs`, it gets that many finished runs of each other task before it starts."""

    def __init__(
        self,
        task: Task,
        tasks: Sequence[Task],
        seed: int,
        *,
        known_runs: int = 0,
        explore: Literal["safe", "on"] = "safe",
        horizon_runs: int | None = None,
        goal: Literal["recurring", "search"] = "recurring",
    ) -> None:
        self._configurations = task.configurations
        self._rows = {frozenset(configuration.items()): row for row, configuration in enumerate(task.configurations)}
        names = task.configurations[0]
        space = {name: sorted({configuration[name] for configuration in task.configurations}) for name in names}
        history = [run for other in tasks if other is not task for run in finished_runs(other, known_runs, seed)]
        current = task.configurations[task.default]
        self._advisor = Advisor(
            space,
            current,
            WEIGHTS,
            workload=task.name,
            seed=seed,
            explore=explore,
            history=history,
            horizon_runs=horizon_runs,
            goal=goal,
            prior=UNSHIPPED,
        )

    def ask(self) -> int:
        return self._rows[frozenset(self._advisor.ask().parameters.items())]

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        self._advisor.tell(self._configurations[choice], outcome)


def finished_runs(task: Task, count: int, seed: int) -> list[tuple[str, dict[str, float], Outcome]]:
    """Runs of random configurations, the default's among them: what an installation would know of another job."""
    if not count:
        return []
    rows = np.random.default_rng([seed, 1]).choice(len(task.configurations), count - 1, replace=False)
    return [(task.name, task.configurations[row], task.outcome(row)) for row in (task.default, *map(int, rows))]


def peer(name: str) -> Make:
    """A policy of `jpo lab replay` on a table."""
    return lambda task, _tasks, seed: POLICIES[name](ReplayProblem(task.configurations, task.default, "balanced", seed))


MAKES: Mapping[str, Make] = {
    "jpo": Advised,
    "jpo, 30 runs told": lambda task, tasks, seed: Advised(task, tasks, seed, horizon_runs=30),
    "jpo, search": lambda task, tasks, seed: Advised(task, tasks, seed, horizon_runs=21, goal="search"),
    "jpo, search, other tasks known": lambda task, tasks, seed: Advised(
        task, tasks, seed, known_runs=KNOWN_RUNS, horizon_runs=21, goal="search"
    ),
    "jpo, other tasks known": lambda task, tasks, seed: Advised(task, tasks, seed, known_runs=KNOWN_RUNS),
    "jpo, other tasks known, explore on": lambda task, tasks, seed: Advised(
        task, tasks, seed, known_runs=KNOWN_RUNS, explore="on"
    ),
    **{name: peer(name) for name in ("random", "hillclimb", "optuna-tpe", "optuna-gp", "gp-ei")},
}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Regret and cost of hyper-parameter search on LCBench tables.")
    parser.add_argument("--seeds", type=int, default=3, help="searches of each policy on each task (default: 3)")
    parser.add_argument("--quick", action="store_true", help="three small simulated tasks, five runs: does it work?")
    parser.add_argument("--tables", type=Path, default=ROOT.parent / "shared" / "hpo", help=f"folder with {GRID}")
    parser.add_argument("--policies", default=";".join(MAKES), help="some of the policies, between semicolons")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    file = options.tables / GRID
    recorded = file.exists() and not options.quick
    tasks = lcbench(file) if recorded else simulated_tasks(3 if options.quick else 8)
    after = tuple(n for n in AFTER if n <= 5) if options.quick else AFTER
    makes = {name: MAKES[name] for name in options.policies.split(";")}
    figures = measure(tasks, makes, seeds=options.seeds, after=after)
    where = f"{len(tasks)} LCBench tasks" if recorded else "Tasks drawn from JPO's own simulator, which flatters JPO"
    if options.json:
        print(json.dumps({name: asdict(figure) for name, figure in figures.items()}, indent=2))
    else:
        print(page(figures, after, f"{where}, {options.seeds} searches of each by each policy"))
    return 0


def lcbench(file: Path) -> list[Task]:
    """The grid tables, one task per OpenML task; error = 1 - validation accuracy."""
    import pandas as pd

    tables = pd.read_parquet(file)
    return [task_of(f"lcbench_{number}", table.reset_index()) for number, table in tables.groupby("task_id")]


def task_of(name: str, table: object) -> Task:
    """A task from rows with batch_size, learning_rate, num_layers and val_acc_e*, time_s_e* for each of EPOCHS."""
    knobs = ("batch_size", "learning_rate", "num_layers")
    rows = [[float(f"{value:.4g}") for value in row] for row in table[list(knobs)].to_numpy()]
    configurations = tuple({**dict(zip(knobs, row, strict=True)), "epochs": float(epochs)} for epochs in EPOCHS for row in rows)
    seconds = np.concatenate([table[f"time_s_e{epochs}"].to_numpy(dtype=np.float64) for epochs in EPOCHS])
    accuracy = np.concatenate([table[f"val_acc_e{epochs}"].to_numpy(dtype=np.float64) for epochs in EPOCHS])
    error = np.maximum(1 - accuracy / 100, FLOOR)
    return Task(name, configurations, configurations.index(DEFAULT), seconds, error)


def simulated_tasks(count: int) -> list[Task]:
    """Jobs from the simulator on a small grid; where one fails there, its error is four times the default's."""
    axes = ([32.0, 64.0, 128.0, 256.0], [0.001, 0.00316, 0.01, 0.0316, 0.1], [2.0, 3.0, 4.0], [12.0, 25.0, 50.0])
    configurations = tuple(dict(zip(DEFAULT, row, strict=True)) for row in product(*axes))
    values = np.array([list(configuration.values()) for configuration in configurations])
    default = configurations.index(DEFAULT)
    candidates = Candidates(tuple(DEFAULT), values, default, np.ones(len(values), dtype=np.bool_), np.zeros(len(values)))
    draws = draw_jobs(candidates, count, np.random.default_rng(7))
    seconds = 600 * np.exp(draws.log_time)
    error = np.minimum(0.2 * np.exp(np.where(draws.fails, np.log(4), draws.log_loss)), 1.0)
    return [Task(f"simulated_{i}", configurations, default, seconds[i], error[i]) for i in range(count)]


def measure(tasks: Sequence[Task], makes: Mapping[str, Make], *, seeds: int, after: Sequence[int]) -> dict[str, Figures]:
    """Every policy searches every task with every seed; a task whose default is the optimum has nothing to search."""
    open_tasks = [task for task in tasks if task.value[task.default] > task.value.min()]
    cells = [(task, 1000 * at + seed) for at, task in enumerate(open_tasks) for seed in range(seeds)]  # luck of its own each
    figures = {}
    for name, make in makes.items():
        searches = [search(*cells[i], make, tasks, runs=max(after)) for i in track(range(len(cells)), name)]
        figures[name] = summarise([task for task, _ in cells], searches, after)
    return figures


def search(task: Task, seed: int, make: Make, tasks: Sequence[Task], *, runs: int) -> list[int]:
    """What a policy runs after the default."""
    policy = make(task, tasks, seed)
    policy.tell(task.default, task.outcome(task.default), float(np.exp(task.value[task.default])))
    chosen: list[int] = []
    while len(chosen) < runs:
        row = policy.ask()
        policy.tell(row, task.outcome(row), float(np.exp(task.value[row])))
        chosen.append(row)
    return chosen


def summarise(tasks: Sequence[Task], searches: Sequence[Sequence[int]], after: Sequence[int]) -> Figures:
    """The figures of a policy from what it ran on each task."""
    against = [task.value[rows] - task.value[task.default] for task, rows in zip(tasks, searches, strict=True)]  # each (runs,)
    gain = np.array([task.value[task.default] - task.value.min() for task in tasks])
    best = np.minimum(np.minimum.accumulate(np.stack(against), axis=1), 0.0)  # (searches, runs)
    regret = 1 + best / gain[:, None]
    return Figures(
        regret={n: float(regret[:, n - 1].mean()) for n in after},
        error={n: float(regret[:, n - 1].std(ddof=1) / np.sqrt(len(regret))) if len(regret) > 1 else 0.0 for n in after},
        cost=float(np.exp(np.stack(against)).mean()),
        worse=float((np.stack(against) > 1e-9).mean()),
    )


def page(figures: Mapping[str, Figures], after: Sequence[int], where: str) -> str:
    """Markdown: the table, and under it where JPO loses."""
    names = ["policy", *(f"{n} run{'' if n == 1 else 's'}" for n in after), "mean cost", "worse"]
    lines = [f"| {' | '.join(names)} |", f"|---|{'---:|' * (len(names) - 1)}"]
    for name, figure in figures.items():
        regrets = [f"{figure.regret[n]:.3f} ± {figure.error[n]:.3f}" for n in after]
        lines.append(f"| {name} | {' | '.join(regrets)} | {figure.cost:.2f} | {100 * figure.worse:.0f}% |")
    return "\n".join(
        [
            "## Hyper-parameter search",
            "",
            f"{stamp()}.",
            f"{where}.",
            "Regret after N new runs: (best so far - optimum) / (default - optimum) on the log of sqrt(seconds x error),",
            "± standard error over searches; mean cost of the new runs in multiples of the default's;",
            "worse: share of new runs that were worse than the default.",
            "",
            *lines,
            "",
            losses(figures, after),
        ]
    )


def losses(figures: Mapping[str, Figures], after: Sequence[int]) -> str:
    """One sentence: after how many runs the best peer is nearer to the optimum than each variant of jpo."""
    peers = {name: figure for name, figure in figures.items() if not name.startswith("jpo")}
    losses = []
    for name, figure in figures.items():
        if name.startswith("jpo") and peers:
            best = {n: min(peers, key=lambda peer: peers[peer].regret[n]) for n in after}
            behind = [f"after {n} to {best[n]}" for n in after if peers[best[n]].regret[n] < figure.regret[n]]
            losses.append(f"{name}: {', '.join(behind) or 'nowhere'}")
    return f"Where JPO loses. {'; '.join(losses)}." if losses else "JPO did not take part."


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
