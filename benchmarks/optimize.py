"""Digits really trained, ten times after a baseline: what a model of 97% accuracy takes by `jpo optimize` and by its peers.

The job is examples/digits, one thread, target 0.97, with its config.ini as it is (`--start example`: good values already), or
with those of a careless user (batch size 256, learning rate 0.01, epochs enough to reach the target); with `--start gpu` it is
examples/vision on one GPU. Each seed has baseline runs
with these values, then RUNS more, chosen by: jpo, Optuna's TPE and GPSampler, random search over the same space (batch sizes 8 to
256, learning rates 0.001 to 0.1; by the wall clock also up to --cpus threads), and keep, which never changes anything. Runs of
the peers are stopped at twice the shortest run so far that reached the target, those of jpo as it decides; all start from their
own three baseline runs.

Time is that of the training alone, from its log. What counts is time per model: that of all runs, by the number that reached the
target; a run that was stopped costs what it took and brings nothing.
By the CPU clock (the default) a second is one of CPU time of the one thread, so that what else the machine does is no noise: jpo
is its real loop and its real suggestions, on an engine that trains in a fork. By the wall clock jpo is the real command line with
its own launcher. Ratios are against keep, geometric means over the seeds with 90% t intervals.

    python benchmarks/optimize.py [--full] [--seeds 5|301-305|301,304] [--runs 10] [--baseline 3] [--policies jpo,tpe,...]
        [--start careless] [--target 0.97] [--clock cpu|wall] [--cpus N] [--explore off|safe|on] [--keep FOLDER] [--json]

As issue 18 measures it: --full --clock wall --cpus 2, on a machine that does nothing else. Without --full: two seeds of keep, jpo
and random, a few minutes. What JPO should hold is printed as "holds" or "DOES NOT HOLD".
"""

from __future__ import annotations

import argparse
import json
import math
import os
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))  # simulated_engine.py
sys.path.insert(0, str(Path(__file__).resolve().parent))
os.environ["OMP_NUM_THREADS"] = "1"

from apparatus.stamp import stamp

EXAMPLES = Path(__file__).parents[1] / "examples"
USD_PER_CPU_HOUR = 0.04
LARGEST_RATIO = 0.55
FEWEST_MODELS = 0.8
"""Of the runs."""
STOP_AT = 2.0
FIRST_MOMENT = 1_800_000_000.0
IMPORTS_SECONDS = 0.01
"""Between the start of a job and that of its training, in virtual time: none starts in the instant in which it is suggested."""
EXPONENTS, RATES = (3, 8), (1e-3, 1e-1)
STARTS: Mapping[str, Mapping[str, float]] = {
    "example": {},
    "careless": {"batch_size": 256, "learning_rate": 0.01, "epochs": 400},
    "gpu": {"gpus": 1},
}
"""The example's own values are good ones already; those of a careless user are slow, and reach the target if they may."""
POLICIES = ("keep", "jpo", "tpe", "gp", "random")
SHORT = ("keep", "jpo", "random")
TOML = """\
[parameters]
batch_size = { min = 8, max = 256, step = "pow2" }
learning_rate = { min = 0.001, max = 0.1, scale = "log" }
cpus = CPUS
[prices]
usd_per_cpu_hour = 0.04
"""
T95 = {1: 6.314, 2: 2.920, 3: 2.353, 4: 2.132, 5: 2.015, 6: 1.943, 7: 1.895, 8: 1.860, 9: 1.833}
"""Student's t, one-sided 95%, by degrees of freedom."""


@dataclass(frozen=True)
class Trained:
    """One run, as its log has it.

    Attributes:
        reached: whether it reached the target.
        allowed: seconds after which it was to be stopped; None: never, or not known.
    """

    values: Mapping[str, float]
    seconds: float
    cpu_seconds: float
    reached: bool
    allowed: float | None = None


@dataclass(frozen=True)
class Search:
    """The runs of one policy after its baseline, with one seed."""

    policy: str
    seed: int
    runs: Sequence[Trained]

    @property
    def totals(self) -> dict[str, float]:
        seconds, cpu = (sum(getattr(run, name) for run in self.runs) for name in ("seconds", "cpu_seconds"))
        reserved = sum(run.seconds * run.values.get("cpus", 1) for run in self.runs)
        return {"seconds": seconds, "cpu_seconds": cpu, "usd": reserved / 3600 * USD_PER_CPU_HOUR}

    @property
    def models(self) -> int:
        """How many runs reached the target."""
        return sum(run.reached for run in self.runs)

    def per_model(self, quantity: str) -> float:
        """What a model took: all runs together, by the number that brought one, counted as one at least."""
        return self.totals[quantity] / max(1, self.models)


def main() -> None:
    arguments = parsed()
    os.environ["OMP_NUM_THREADS"] = str(arguments.cpus)  # before torch is imported
    folder = Path(arguments.keep or tempfile.mkdtemp(prefix="jpo-optimize-"))
    policies = [name for name in POLICIES if name in arguments.policies.split(",") or name == "keep"]
    searches = []
    for seed in arguments.seeds:
        for policy in policies:
            search = searched(policy, seed, folder / f"{policy}-{seed}", arguments)
            searches.append(search)
            shown = " ".join(f"{run.seconds:.2f}{'' if run.reached else '!'}" for run in search.runs)
            print(f"{policy} {seed}: {search.totals['seconds']:.1f} s; {shown}", file=sys.stderr, flush=True)
    told(searches, arguments)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Digits really trained: jpo optimize beside its peers.")
    parser.add_argument("--full", action="store_true", help="five seeds of all policies")
    for name, number in (("runs", 10), ("baseline", 3)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--seeds", type=seeds_of, help="how many, or which: 301-305 or 301,304; default: 2, with --full 5")
    parser.add_argument("--start", choices=tuple(STARTS), default="example", help="what config.ini has at the beginning")
    parser.add_argument("--policies", help="default: keep,jpo,random, with --full all")
    parser.add_argument("--target", type=float, default=0.97)
    parser.add_argument("--clock", choices=("cpu", "wall"), default="cpu")
    parser.add_argument("--cpus", type=int, default=1, help="threads that a search may choose; above 1 with --clock wall alone")
    parser.add_argument("--explore", choices=("off", "safe", "on"), help="how bold jpo is; default: its own plan")
    parser.add_argument("--keep", help="folder that stays")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.cpus != 1 and arguments.clock == "cpu":
        parser.error("--cpus: by the CPU clock a second is one of one thread; add --clock wall")
    arguments.seeds = arguments.seeds or seeds_of("5" if arguments.full else "2")
    arguments.policies = arguments.policies or ",".join(POLICIES if arguments.full else SHORT)
    return arguments


def seeds_of(text: str) -> list[int]:
    """ "3" -> 1, 2, 3; "301-303" -> 301, 302, 303; "301,304" -> 301, 304."""
    if text.isdecimal():
        return list(range(1, int(text) + 1))
    ends = [[int(number) for number in part.split("-")] for part in text.split(",") if part]
    return [seed for end in ends for seed in range(end[0], end[-1] + 1)]


def searched(policy: str, seed: int, folder: Path, arguments: argparse.Namespace) -> Search:
    """One search in a folder of its own."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    for name in ("config.ini", "train.py"):
        shutil.copy(EXAMPLES / ("vision" if arguments.start == "gpu" else "digits") / name, folder)
    written(folder / "config.ini", {"target_accuracy": arguments.target, **STARTS[arguments.start]})
    if policy == "jpo":
        cpus = f"{{ max = {arguments.cpus} }}" if arguments.cpus > 1 else "{ freeze = true }"
        (folder / "jpo.toml").write_text(TOML.replace("CPUS", cpus), encoding="utf-8")
        (folder / ".git").mkdir(exist_ok=True)  # the project ends here
        by = by_jpo if arguments.clock == "wall" else by_jpo_in_virtual_time
        return Search(policy, seed, by(seed, folder, arguments))
    train = partial(trained, folder, clock=arguments.clock)
    baseline = [train(f"{policy}-{seed}-b{number}", {}) for number in range(arguments.baseline)]
    if policy == "keep":
        return Search(policy, seed, [train(f"keep-{seed}-{number}", {}) for number in range(arguments.runs)])
    choose, tell = chooser(policy, seed, baseline, arguments.cpus)
    runs: list[Trained] = []
    for number in range(arguments.runs):
        best = min((run.seconds for run in (*baseline, *runs) if run.reached), default=None)
        values = choose()
        run = train(f"{policy}-{seed}-{number}", values, None if best is None else STOP_AT * best)
        tell(run)
        runs.append(run)
    return Search(policy, seed, runs)


def chooser(
    policy: str, seed: int, baseline: Sequence[Trained], cpus: int
) -> tuple[Callable[[], dict[str, float]], Callable[[Trained], None]]:
    """Ask and tell of a sampler of Optuna, which knows the baseline."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    samplers = {"tpe": optuna.samplers.TPESampler, "gp": optuna.samplers.GPSampler, "random": optuna.samplers.RandomSampler}
    study = optuna.create_study(sampler=samplers[policy](seed=seed))
    space: dict[str, optuna.distributions.BaseDistribution] = {
        "exponent": optuna.distributions.IntDistribution(*EXPONENTS),
        "learning_rate": optuna.distributions.FloatDistribution(*RATES, log=True),
        "cpus": optuna.distributions.IntDistribution(1, cpus),
    }
    for run in baseline:
        at = {"exponent": round(math.log2(run.values["batch_size"])), **{n: run.values[n] for n in ("learning_rate", "cpus")}}
        study.add_trial(optuna.trial.create_trial(params=at, distributions=space, value=run.seconds))
    asked: list[optuna.trial.Trial] = []

    def choose() -> dict[str, float]:
        asked.append(study.ask(space))
        found = asked[-1].params
        rate = float(f"{found['learning_rate']:.4g}")
        return {"batch_size": 2 ** found["exponent"], "learning_rate": rate, "cpus": found["cpus"]}

    def tell(run: Trained) -> None:
        study.tell(asked[-1], run.seconds if run.reached else max(run.seconds, run.allowed or 0.0))

    return choose, tell


def by_jpo(seed: int, folder: Path, arguments: argparse.Namespace) -> list[Trained]:
    """The real command line; what it ran is read from the logs of its ledger."""
    name, jpo = f"jpo-{seed}", str(Path(sys.executable).with_name("jpo"))
    asked = [
        "--runs",
        str(arguments.runs),
        "--baseline",
        str(arguments.baseline),
        "--name",
        name,
        "--seed",
        str(seed),
        "-o",
        "json",
    ]
    bold = ["--explore", arguments.explore] if arguments.explore else []
    command = [jpo, "optimize", "config.ini", *asked, *bold, "--", str(folder / "train.py"), "config.ini"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"jpo optimize ended with {done.returncode}; its folder is {folder}")
    launches = folder / ".jpo" / "launches"
    runs = [of_result(each, launches / each["run_id"] / "runs") for each in json.loads(done.stdout)["jobs"][0]["runs"]]
    return runs[arguments.baseline :]


def by_jpo_in_virtual_time(seed: int, folder: Path, arguments: argparse.Namespace) -> list[Trained]:
    """JPO's loop and suggestions in this process, on an engine whose jobs really train and last as long as their CPU time."""
    from simulated_engine import SimulatedLauncher, VirtualRun

    from jpo.commands.compare import compared
    from jpo.commands.suggest import SuggestOptions, suggest
    from jpo.plugins.launch.job import LaunchJob
    from jpo.plugins.launch.story.optimize.optimize import optimize
    from jpo.plugins.launch.story.optimize.task import LoopPlan, Outside, Task, task_of
    from jpo.plugins.launch.story.watch.story import trial
    from jpo.project.load import load
    from jpo.records import RunStatus, Suggestion

    now = [FIRST_MOMENT]

    def simulate(job: LaunchJob, start: float) -> VirtualRun:
        run = trained(folder, job.run_id, {}, job.longest_seconds, start=start + IMPORTS_SECONDS)
        log = (folder / "runs" / f"{job.run_id}.csv").read_text(encoding="utf-8")
        seconds = run.seconds if job.longest_seconds is None else min(run.seconds, job.longest_seconds)
        return VirtualRun(IMPORTS_SECONDS + seconds, ended_as=RunStatus(facts_in(log).get("status", "failed")), log=log)

    def decide(task: Task, suggestion_id: str, moment: float) -> Suggestion:
        return suggest(task.path, task.settings, SuggestOptions(suggestion_id, moment, offline=True, seed=seed)).suggestion

    def sleep(seconds: float) -> None:
        now[0] += max(seconds, 0.01)

    engine = SimulatedLauncher(simulate, lambda: now[0])
    settings = load(folder / "config.ini", None, {}, {"agent": {"explore": arguments.explore}} if arguments.explore else {})
    task = task_of(folder / "config.ini", settings, engine.name, name=f"jpo-{seed}", now=now[0])
    outside = Outside(decide, lambda *_: engine, trial, lambda: now[0], sleep, lambda _: None, folder, {})
    plan = LoopPlan(arguments.runs, arguments.baseline, ("train",))
    (job,) = optimize([task], plan, outside, compared, picture=None).jobs
    runs = [each.run for each in job.runs if each.run]
    trained_so = [
        Trained(run.parameters, run.outcome.duration_seconds or 0.0, 0.0, run.outcome.converged is True) for run in runs
    ]
    return [replace(run, cpu_seconds=run.seconds) for run in trained_so][arguments.baseline :]


def trained(
    folder: Path,
    run_id: str,
    values: Mapping[str, float],
    allowed: float | None = None,
    *,
    clock: str = "cpu",
    start: float | None = None,
) -> Trained:
    """Train, and stop it when it has had its time: by the CPU clock in a fork of this process, which has torch in memory, by the
    wall clock in a process of its own, since threads of torch do not survive a fork.

    Args:
        values: written into config.ini first.
        start: moment at which a run by the CPU clock begins; None: now.
    """
    config = folder / "config.ini"
    written(config, values)
    log = folder / "runs" / f"{run_id}.csv"
    words = [str(folder / "train.py"), str(config), "--run-id", run_id, "--log-dir", str(folder / "runs")]
    with (folder / f"{run_id}.out").open("wb") as output:
        if clock == "wall":
            child = subprocess.Popen([sys.executable, *words], stdout=output).pid
        else:
            child = forked(words, output.fileno(), start, allowed)
    begun, stopped = None, clock == "cpu"
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        begun = begun or started(log)
        if allowed is not None and begun and not stopped and time.time() - begun > allowed:
            os.kill(child, signal.SIGTERM)
            stopped = True
        time.sleep(0.02)
    run = of_log(log)
    return Trained(run.values, run.seconds, run.cpu_seconds, run.reached, allowed)


def forked(words: list[str], output: int, start: float | None, allowed: float | None) -> int:
    """The id of a fork that trains by the CPU clock, and whose words go to a file."""
    import torch  # noqa: F401

    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.dup2(output, 1)
            sys.argv = words
            live_by_cpu_time(start, allowed)
            runpy.run_path(words[0], run_name="__main__")
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            os._exit(code)
    return child


def written(config: Path, values: Mapping[str, float]) -> None:
    """Write values into a config.ini."""
    for name, value in values.items():
        lines = config.read_text(encoding="utf-8").splitlines(keepends=True)
        config.write_text("".join(f"{name} = {value}\n" if line.split("=")[0].strip() == name else line for line in lines))


def live_by_cpu_time(start: float | None, allowed: float | None) -> None:
    """Let the clocks of this process go by its CPU time once its run has started, and end it when it has had its share."""
    from jpo import runlog

    moment, enter = time.time() if start is None else start, runlog.RunLog.__enter__

    def entered(log: runlog.RunLog) -> runlog.RunLog:
        before = time.process_time()
        time.monotonic = lambda: time.process_time() - before
        time.time = lambda: moment + time.monotonic()
        found = enter(log)
        if allowed is not None:
            signal.signal(signal.SIGPROF, lambda *_: end_after(allowed))
            end_after(allowed)
        return found

    runlog.RunLog.__enter__ = entered  # type: ignore[method-assign]


def end_after(seconds: float) -> None:
    """End this process as SIGTERM would after so much CPU time; the kernel's timer counts ticks and may be early."""
    left = seconds - time.monotonic()
    if left <= 0:
        sys.exit(128 + signal.SIGTERM)
    signal.setitimer(signal.ITIMER_PROF, max(left, 0.001))


def started(log: Path) -> float | None:
    head = facts(log) if log.exists() else {}
    return float(head["start"]) if "start" in head else None


def facts(log: Path) -> dict[str, str]:
    return facts_in(log.read_text(encoding="utf-8"))


def facts_in(text: str) -> dict[str, str]:
    lines = text.splitlines()
    return dict(line[2:].split("=", 1) for line in lines if line.startswith("# ") and "=" in line)


def of_result(each: Mapping[str, Any], logs: Path) -> Trained:
    """A run as `jpo optimize` has it: its log may have no end, where it had to be killed."""
    found = next((facts(log) for log in logs.glob("*.csv")), {})
    seconds = each["duration_seconds"] or 0.0
    return Trained(each["parameters"], seconds, float(found.get("cpu_seconds", seconds)), each["converged"] is True)


def of_log(log: Path) -> Trained:
    found = facts(log)
    values = {name: float(found[name]) for name in ("batch_size", "learning_rate", "cpus")}
    seconds = float(found.get("end", log.stat().st_mtime)) - float(found["start"])
    return Trained(values, seconds, float(found.get("cpu_seconds", seconds)), found.get("converged") == "true")


def ratios(searches: Sequence[Search], policy: str, quantity: str) -> list[float]:
    """Of each seed: what a model took by the policy over what it took by keeping."""
    kept = {each.seed: each.per_model(quantity) for each in searches if each.policy == "keep"}
    return [each.per_model(quantity) / kept[each.seed] for each in searches if each.policy == policy]


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Geometric mean with a 90% t interval; the mean alone of one value."""
    logs = [math.log(value) for value in values]
    half = T95.get(len(logs) - 1, 1.7) * stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else 0.0
    return math.exp(fmean(logs)), math.exp(fmean(logs) - half), math.exp(fmean(logs) + half)


def stopped_in_force(search: Search) -> int:
    """How many runs brought no model although their values had brought one before: those are wanted for it."""
    known: list[Mapping[str, float]] = []
    count = 0
    for run in search.runs:
        count += not run.reached and run.values in known
        known += [run.values] if run.reached else []
    return count


def claims(searches: Sequence[Search]) -> dict[str, bool]:
    """What must hold of JPO."""
    own = [each for each in searches if each.policy == "jpo"]
    if not own:
        return {}
    models, runs = sum(each.models for each in own), sum(len(each.runs) for each in own)
    return {
        f"time per model at most {LARGEST_RATIO}": interval(ratios(searches, "jpo", "seconds"))[0] <= LARGEST_RATIO,
        "8 of 10 runs bring a model": models >= FEWEST_MODELS * runs,
        "no run of values that had produced a model was ended": not any(map(stopped_in_force, own)),
    }


def told(searches: Sequence[Search], arguments: argparse.Namespace) -> None:
    held = claims(searches)
    policies = list(dict.fromkeys(each.policy for each in searches))
    load = os.getloadavg()[0]
    if arguments.json:
        runs = [asdict(each) for each in searches]
        summary = {p: {q: interval(ratios(searches, p, q)) for q in ("seconds", "cpu_seconds", "usd")} for p in policies}
        print(json.dumps({"stamp": stamp(), "load": load, "claims": held, "ratios": summary, "searches": runs}))
        return
    counted = f"{len(arguments.seeds)} seeds, {arguments.runs} runs after {arguments.baseline} baseline runs"
    print(f"{stamp()}; load {load:.1f}, {arguments.clock} clock, {arguments.cpus} CPU; {counted}")
    print(f"{'policy':8} {'seconds':>8} {'models':>8} {'per model':>9} {'time per model (90%)':>21} {'cost per model (90%)':>21}")
    for policy in policies:
        own = [each for each in searches if each.policy == policy]
        models, count = sum(each.models for each in own), sum(len(each.runs) for each in own)
        spent = sum(each.totals["seconds"] for each in own)
        columns = (f"{'{:.2f} ({:.2f}-{:.2f})'.format(*interval(ratios(searches, policy, q))):>21}" for q in ("seconds", "usd"))
        per_model = f"{spent / models:8.2f}s" if models else "     none"
        print(f"{policy:8} {spent / len(own):7.1f}s {models:4}/{count:<3} {per_model} {' '.join(columns)}")
    print("Cost is time x 0.04 USD/h of each CPU that a run asked for.")
    for claim, holds in held.items():
        print(f"{'holds' if holds else 'DOES NOT HOLD'}: {claim}")


if __name__ == "__main__":
    main()
