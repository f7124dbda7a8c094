"""Nights of a job with parameters of the team's own, through the real command line, and the same nights with Optuna's TPE.

Besides batch size and learning rate it has an optimizer (a word), dropout and weight decay, of which JPO knows nothing but their
lines in jpo.toml. The truth is below: a job that trains until a target is reached, so that each of the five costs epochs; its
best is found by trying everything that may be written. Each night `jpo suggest config.ini` writes the file, the job "runs" with
what stands there (3% of luck), and its log appears. TPE proposes from the same values, begins with the same first night, and has
the same luck; it has no guard and no file. Costs are without luck, so that no night is good by chance.

    python benchmarks/own_parameters.py [--nights 14] [--seeds 2] [--set agent.explore=on ...] [--json]
"""

from __future__ import annotations

import argparse
import configparser
import itertools
import json
import math
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from apparatus.night_figures import LAST_NIGHTS
from apparatus.night_players import NOTHING_ADMISSIBLE, Program
from apparatus.stamp import stamp
from nights import DAY, FIRST_NIGHT, QUEUED

Values = dict[str, float | str]

FIRST: Values = {"batch_size": 64, "learning_rate": 0.01, "optimizer": "sgd", "dropout": 0.0, "weight_decay": 1e-5}
SECTIONS = {
    "batch_size": "training",
    "learning_rate": "training",
    "optimizer": "training",
    "dropout": "model",
    "weight_decay": "model",
}
LADDERS: dict[str, tuple[float | str, ...]] = {
    "batch_size": (16, 32, 64, 128, 256, 512),
    "learning_rate": (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1),
    "optimizer": ("adam", "sgd", "rmsprop"),
    "dropout": tuple(round(0.05 * i, 2) for i in range(11)),
    "weight_decay": (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1),
}
TOML = """\
[csv]
logs = ["runs/*.csv"]

[preference]
time = 1.0

[parameters]
batch_size = { choices = [16, 32, 64, 128, 256, 512], max_change = 64 }
learning_rate = { choices = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1], max_change = 1000 }
optimizer = { choices = ["adam", "sgd", "rmsprop"] }
dropout = { key = "model.dropout", min = 0.0, max = 0.5 }
weight_decay = { min = 1e-6, max = 1e-1, scale = "log" }
"""
RATE_OF = {"sgd": 0.05, "adam": 0.005, "rmsprop": 0.002}
LOST_BY = {"sgd": 0.25, "adam": 0.0, "rmsprop": 0.15}
LUCK = 0.03


def seconds(values: Values) -> float:
    """Duration of a run, without luck: epochs to the target times the seconds of an epoch."""
    batch, rate, dropout, decay = (float(values[name]) for name in ("batch_size", "learning_rate", "dropout", "weight_decay"))
    word = str(values["optimizer"])
    off = math.log(rate / (RATE_OF[word] * math.sqrt(batch / 128)))
    lost = 0.08 * off**2 + LOST_BY[word] + 5 * (dropout - 0.25) ** 2 + 0.02 * math.log(decay / 1e-3) ** 2
    return 20 * math.exp(lost) * (1 + batch / 512) * 60 * (0.5 + 64 / batch)


def best() -> tuple[Values, float]:
    """The best of all that may be written, and its duration."""
    everything = (dict(zip(LADDERS, row, strict=True)) for row in itertools.product(*LADDERS.values()))
    found = min(everything, key=seconds)
    return found, seconds(found)


def config_ini(values: Values) -> str:
    lines = ["[workload]", "dataset = digits", "model = cnn", "framework = pytorch"]
    for section in ("training", "model"):
        lines += ["", f"[{section}]", *(f"{name} = {value}" for name, value in values.items() if SECTIONS[name] == section)]
    return "\n".join([*lines, ""])


def values_in(path: Path) -> Values:
    """What stands in the file; a word or number that may not be written ends the benchmark."""
    parser = configparser.ConfigParser()
    parser.read(path, encoding="utf-8")
    texts = {name: parser[section][name] for name, section in SECTIONS.items()}
    values: Values = {name: text if name == "optimizer" else float(text) for name, text in texts.items()}
    kept = values["optimizer"] in LADDERS["optimizer"] and 0 <= float(values["dropout"]) <= 0.5
    if not (kept and 1e-6 <= float(values["weight_decay"]) <= 1e-1):
        raise SystemExit(f"inadmissible values were written: {values}")
    return values


def run_log(values: Values, night: int, seed: int, start: float) -> str:
    took = seconds(values) * luck(night, seed)
    head = {
        "run_id": f"night-{night + 1:02}",
        "dataset": "digits",
        "model": "cnn",
        "framework": "pytorch",
        **values,
        "start": start,
    }
    lines = [f"# {name}={value}" for name, value in head.items()]
    return "\n".join([*lines, "# converged=true", f"# end={start + took}", "# status=succeeded", ""])


def luck(night: int, seed: int) -> float:
    return math.exp(LUCK * float(np.random.default_rng((seed, night)).standard_normal()))


def by_jpo(folder: Path, nights: int, seed: int, settings: list[str], clock: str | None) -> list[Values]:
    """The values of each night with JPO."""
    jpo, config, runs, kept = (
        Program(Path(sys.executable).parent / "jpo", clock, folder),
        folder / "config.ini",
        folder / "runs",
        [],
    )
    runs.mkdir(parents=True)
    config.write_text(config_ini(FIRST), encoding="utf-8")
    more = [f"\n[{entry.partition('.')[0]}]\n{entry.partition('.')[2]}\n" for entry in settings]
    (folder / "jpo.toml").write_text(TOML + "".join(more), encoding="utf-8")
    for night in range(nights):
        at = FIRST_NIGHT + DAY * night
        jpo("suggest", "config.ini", "--offline", "--seed", str(seed), at=at, allowed=(0, NOTHING_ADMISSIBLE))
        kept.append(values_in(config))
        (runs / f"{night:02}.csv").write_text(run_log(kept[-1], night, seed, at + QUEUED), encoding="utf-8")
    return kept


def by_tpe(nights: int, seed: int) -> list[Values]:
    """The values of each night with Optuna's TPE as it is by default."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study, kept = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed)), list[Values]()
    study.enqueue_trial(FIRST)

    def objective(trial: optuna.Trial) -> float:
        values: Values = {name: trial.suggest_categorical(name, ladder) for name, ladder in LADDERS.items() if name in CATEGORIES}
        values["dropout"] = trial.suggest_float("dropout", 0.0, 0.5)
        values["weight_decay"] = trial.suggest_float("weight_decay", 1e-6, 1e-1, log=True)
        kept.append(values)
        return seconds(values) * luck(len(kept) - 1, seed)

    study.optimize(objective, n_trials=nights)
    return kept


CATEGORIES = ("batch_size", "learning_rate", "optimizer")


def figures(plays: list[list[float]]) -> dict[str, float]:
    """Geometric means over the plays: first night, last nights, all nights, and the best night so far, all / best."""
    mean = statistics.geometric_mean
    return {
        "first": mean(play[0] for play in plays),
        "last": mean(mean(play[-LAST_NIGHTS:]) for play in plays),
        "all": mean(mean(play) for play in plays),
        "best": mean(min(play) for play in plays),
    }


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Nights of a job with parameters of the team's own, JPO and TPE.")
    parser.add_argument("--nights", type=int, default=14)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--set", action="append", default=[], metavar="TABLE.KEY=VALUE", help="a line of jpo.toml")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    (known, least), clock = best(), shutil.which("faketime")
    with tempfile.TemporaryDirectory(prefix="own-") as scratch:
        plays = {
            "jpo": [by_jpo(Path(scratch) / str(s), options.nights, s, options.set, clock) for s in range(options.seeds)],
            "tpe": [by_tpe(options.nights, s) for s in range(options.seeds)],
        }
    ratios = {name: [[seconds(values) / least for values in play] for play in some] for name, some in plays.items()}
    told = {name: figures(some) for name, some in ratios.items()}
    if options.json:
        print(json.dumps({"best": known, "figures": told, "ratios": ratios, "nights": plays}))
        return 0
    print(f"{stamp()}. {options.seeds} plays of {options.nights} nights; time / best, and the best is {known}.\n")
    print(f"| | first | last {LAST_NIGHTS} | all nights | best night |\n|---|---:|---:|---:|---:|")
    for name, figure in told.items():
        print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in figure.values()) + " |")
    for name, some in ratios.items():
        print("\n".join(f"{name} " + " ".join(f"{ratio:.2f}" for ratio in play) for play in some))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
