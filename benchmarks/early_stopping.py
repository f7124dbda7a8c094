"""Early stopping of runs that cannot win any more, on recorded learning curves, beside its peers in the same plays.

    python benchmarks/early_stopping.py [--orders 20] [--families digits,teacher] [--json]

A play takes the runs of one family (benchmarks/curves) in a random order, one after the other, each with its recorded losses
and seconds; after each epoch a policy may stop the run. The best run is the one with the lowest last loss of all. Policies:
`jpo` (jpo/plugins/launch/during/stop.py, of trials that nobody waits for, by the loss alone), Optuna's MedianPruner,
SuccessiveHalvingPruner (ASHA) and HyperbandPruner as they come, and `none`. Shares are of the seconds of running all to the end.

The curves of "begun with" were there when the rule was written, those of "judged at the end" came after its last change: see
benchmarks/curves.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import optuna

sys.path.insert(0, str(Path(__file__).resolve().parent))

from apparatus.stamp import stamp

from jpo.forecast.curves.curve import Curve, curve_of
from jpo.plugins.launch.during.progress import Rival, RunProgress
from jpo.plugins.launch.during.stop import verdict
from jpo.records import Interval, Preference

CURVES = Path(__file__).parent / "curves"
GROUPS: Mapping[str, tuple[str, ...]] = {
    "begun with": ("digits", "teacher"),
    "judged first": ("digits-again", "annealed", "sequences", "overfitting", "linear", "boosting"),
    "judged last": ("autoencoder", "stepped", "copying", "forest"),
    "judged third": ("parity", "staircase", "grokking", "descending", "one-cycle", "restarted", "few-judges", "nearest"),
    "judged at the end": ("products", "tanh-parity", "hundred", "dropped", "histograms"),
}
BY_LOSS = Preference(0.0, 0.0, 0.0, 1.0)
HORIZON = 10.0
BOOTSTRAPS = 2000
TOLERANCE = 0.02
"""By which two runs of one configuration differ, in JPO's objective."""


@dataclass(frozen=True)
class Recorded:
    """A recorded run: seconds of all its epochs, and its losses; one that ends with NaN diverged."""

    seconds: float
    losses: tuple[float, ...]
    epochs: int

    @property
    def final(self) -> float:
        """Its last loss; infinite where it diverged."""
        return self.losses[-1] if len(self.losses) == self.epochs and math.isfinite(self.losses[-1]) else math.inf

    def curve(self, epochs: int) -> Curve | None:
        """Its curve after so many epochs; None where it diverged."""
        return curve_of((number + 1, loss) for number, loss in enumerate(self.losses[:epochs]))


@dataclass(frozen=True)
class Played:
    """A play: share of the seconds, whether the best run was stopped, how much worse the best kept one is (ratio - 1)."""

    share: float
    lost_the_best: bool
    regret: float


class Policy:
    """Who stops runs: is told of each epoch, and of each end."""

    def begin(self) -> None:
        """A run begins."""

    def stops(self, run: Recorded, epochs: int) -> bool:
        """Whether the run ends after this epoch."""
        return False

    def ended(self, run: Recorded, *, stopped: bool) -> None:
        """A run is over."""


class Jpo(Policy):
    """JPO's rule, as `jpo watch --trial` has it."""

    def __init__(self) -> None:
        self._finished: list[Curve] = []
        self._rival: Rival | None = None

    def stops(self, run: Recorded, epochs: int) -> bool:
        each = run.seconds / len(run.losses)
        curve, total = run.curve(epochs), each * run.epochs
        certain = Interval(total, total, total)
        progress = RunProgress(each * epochs, certain, None, curve, curve is None, run.epochs, epochs / run.epochs)
        return verdict(progress, self._rival, BY_LOSS, self._finished, needed=False, horizon=HORIZON).stop

    def ended(self, run: Recorded, *, stopped: bool) -> None:
        curve = run.curve(run.epochs)
        if stopped or curve is None or not math.isfinite(run.final):
            return
        self._finished.append(curve)
        if self._rival is None or self._rival.error is None or run.final < self._rival.error:
            self._rival = Rival("best", run.seconds, None, run.final)


class Pruned(Policy):
    """A pruner of Optuna with its defaults."""

    def __init__(self, pruner: optuna.pruners.BasePruner, seed: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study = optuna.create_study(study_name=str(seed), pruner=pruner, sampler=optuna.samplers.RandomSampler(seed=seed))

    def begin(self) -> None:
        self._trial = self._study.ask()

    def stops(self, run: Recorded, epochs: int) -> bool:
        self._trial.report(run.losses[epochs - 1], epochs)
        return self._trial.should_prune()

    def ended(self, run: Recorded, *, stopped: bool) -> None:
        if stopped or not math.isfinite(run.final):
            self._study.tell(self._trial, state=optuna.trial.TrialState.PRUNED)
        else:
            self._study.tell(self._trial, run.final)


POLICIES: Mapping[str, Callable[[int, int], Policy]] = {
    "none": lambda seed, epochs: Policy(),
    "jpo": lambda seed, epochs: Jpo(),
    "median": lambda seed, epochs: Pruned(optuna.pruners.MedianPruner(), seed),
    "asha": lambda seed, epochs: Pruned(optuna.pruners.SuccessiveHalvingPruner(), seed),
    "hyperband": lambda seed, epochs: Pruned(optuna.pruners.HyperbandPruner(max_resource=epochs), seed),
}


def read(family: str) -> tuple[Recorded, ...]:
    """The runs of a family."""
    runs = json.loads((CURVES / f"{family}.json").read_text(encoding="utf-8"))["runs"]
    return tuple(
        Recorded(
            run["seconds"],
            tuple(math.nan if loss is None else loss for loss in run["val_loss"]),
            int(run["parameters"]["epochs"]),
        )
        for run in runs
    )


def play(runs: Sequence[Recorded], policy: Policy) -> Played:
    """All runs in this order; one that diverges ends there by itself."""
    spent, kept, lost = 0.0, math.inf, False
    best = min(run.final for run in runs)
    for run in runs:
        policy.begin()
        done = next((epochs for epochs in range(1, len(run.losses)) if policy.stops(run, epochs)), len(run.losses))
        stopped = done < len(run.losses)
        policy.ended(run, stopped=stopped)
        spent += run.seconds * done / len(run.losses)
        kept = kept if stopped else min(kept, run.final)
        lost |= stopped and run.final == best
    return Played(spent / sum(run.seconds for run in runs), lost, kept / best - 1)


def plays(family: str, name: str, orders: int) -> list[Played]:
    """The plays of a family under a policy, one for each order."""
    runs = read(family)
    shuffled = [[runs[row] for row in np.random.default_rng([seed, 18]).permutation(len(runs))] for seed in range(orders)]
    return [play(order, POLICIES[name](seed, runs[0].epochs)) for seed, order in enumerate(shuffled)]


def row(policy: str, where: str, by_family: Sequence[Sequence[Played]]) -> dict[str, object]:
    """A line of the table: the mean share with a bootstrap interval over families and orders."""
    rng = np.random.default_rng(0)
    shares = [np.array([each.share for each in played]) for played in by_family]
    drawn = [
        float(np.mean([rng.choice(shares[family]) for family in rng.integers(len(shares), size=len(shares)) for _ in range(4)]))
        for _ in range(BOOTSTRAPS)
    ]
    every = [each for played in by_family for each in played]
    low, high = np.quantile(drawn, (0.05, 0.95))
    return {
        "policy": policy,
        "curves": where,
        "share": round(float(np.mean([values.mean() for values in shares])), 3),
        "low": round(float(low), 3),
        "high": round(float(high), 3),
        "best_stopped": sum(each.lost_the_best for each in every),
        "worse_by_2_percent": sum(each.regret > TOLERANCE for each in every),
        "plays": len(every),
        "mean_regret": round(float(np.mean([each.regret for each in every])), 4),
        "largest_regret": round(max(each.regret for each in every), 4),
    }


def main() -> None:
    options = argparse.ArgumentParser(description="Early stopping on recorded learning curves.")
    options.add_argument("--orders", type=int, default=20, help="random orders of the runs")
    options.add_argument("--families", default="", help="only these, separated by commas")
    options.add_argument("--policies", default=",".join(POLICIES))
    options.add_argument("--json", action="store_true")
    asked = options.parse_args()
    only = set(filter(None, asked.families.split(",")))
    rows = []
    for policy in asked.policies.split(","):
        every = []
        for group, families in GROUPS.items():
            chosen = [family for family in families if not only or family in only]
            played = {family: plays(family, policy, asked.orders) for family in chosen}
            rows += [row(policy, family, [each]) for family, each in played.items()]
            if len(played) > 1:
                rows.append(row(policy, group, [*played.values()]))
            every += [*played.values()]
        if len(every) > 1:
            rows.append(row(policy, "all", every))
    if asked.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{stamp()}, {asked.orders} orders\n")
    print(
        "| policy | curves | share of the cost (90% interval) | best run stopped | kept one > 2% worse | mean regret | largest |"
    )
    print("|---|---|---|---|---|---|---|")
    for each in rows:
        interval = f"{each['share']} ({each['low']} to {each['high']})"
        lost = f"{each['best_stopped']} of {each['plays']}"
        worse = f"{each['worse_by_2_percent']} | {each['mean_regret']} | {each['largest_regret']}"
        print(f"| {each['policy']} | {each['curves']} | {interval} | {lost} | {worse} |")


if __name__ == "__main__":
    main()
