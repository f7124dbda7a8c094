"""Phases beside AI4DL and simpler ways: how exactly made phases are found, how fast, and what is allocated for runs left out.

The figures of AI4DL are cited: measured on its own code with its own defaults, which runs after patches only (161 CPU seconds
for 100 epochs at 20,400 samples; adjusted Rand index 0.29 and 0.19 on made traces of the same kind). Everything else is
computed here.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from followed_runs import FileCgroup  # noqa: E402
from phase_traces import long_execution, made_traces  # noqa: E402 - the made jobs of the tests

from jpo.plugins.phases.best_path import in_numpy, viterbi  # noqa: E402
from jpo.plugins.phases.chain import Chain  # noqa: E402
from jpo.plugins.phases.files.read import read_traces  # noqa: E402
from jpo.plugins.phases.fit import METHODS, FitOptions, fit_model, fit_phases  # noqa: E402
from jpo.plugins.phases.following.cgroup import Cgroup  # noqa: E402
from jpo.plugins.phases.methods.labels import phases_of  # noqa: E402
from jpo.plugins.phases.requests.allocate import allocate  # noqa: E402
from jpo.plugins.phases.requests.evaluate import compare, leave_out, standings  # noqa: E402
from jpo.plugins.phases.story.follow import follow  # noqa: E402
from jpo.plugins.phases.story.phases import fit  # noqa: E402
from jpo.plugins.phases.stream import Stream  # noqa: E402
from jpo.plugins.phases.traces import CPU, MEMORY, ExecutionTrace, Floats, Traces  # noqa: E402
from jpo.records import silently  # noqa: E402

SEEDS = range(5)
RUNS = 10
Find = Callable[[Chain, Floats, Sequence[int]], np.ndarray]
NEAR = 2
"""Samples by which a change may be found too early or too late."""
AI4DL = "| AI4DL (cited) | 0.29 | 0.19 | | |"


def changes(phases: np.ndarray, lengths: tuple[int, ...]) -> list[int]:
    """Samples at which a phase begins within an execution."""
    starts = set(np.cumsum([0, *lengths]).tolist())
    return [int(at) for at in np.flatnonzero(phases[1:] != phases[:-1]) + 1 if at not in starts]


def change_f1(true: np.ndarray, found: np.ndarray, lengths: tuple[int, ...]) -> float:
    """Harmonic mean of how many changes were found and how many that were found are there, each at most NEAR samples off."""
    there, said = changes(true, lengths), changes(found, lengths)
    if not there or not said:
        return 0.0
    recall = np.mean([min(abs(at - other) for other in said) <= NEAR for at in there])
    precision = np.mean([min(abs(at - other) for other in there) <= NEAR for at in said])
    return float(2 * precision * recall / max(precision + recall, 1e-9))


def k_means(traces: Traces, seed: int) -> np.ndarray:
    """k-means with the true number of phases on the same scaled samples."""
    scaler = fit_phases(traces).scaler
    found: np.ndarray = KMeans(5, n_init=5, random_state=seed).fit_predict(scaler.transform(traces.stacked))
    return found


def by(method: str) -> Callable[[Traces, int], np.ndarray]:
    def labels(traces: Traces, seed: int) -> np.ndarray:
        return phases_of(fit_phases(traces, FitOptions(method, seed=seed)), traces)  # type: ignore[arg-type]

    return labels


def found_phases() -> None:
    print(
        "### Made phases\n\nStart, loading, training with validations, upload; each run at its own level (5%). Mean of",
        len(SEEDS),
        "seeds.\n",
    )
    print("| method | ARI, noise 1 | ARI, noise 2 | changes F1, noise 1 | changes F1, noise 2 |\n|---|---|---|---|---|")
    for name, labels in {**{method: by(method) for method in METHODS}, "k-means, k = 5": k_means}.items():
        figures = []
        for noise in (1.0, 2.0):
            made = [made_traces(runs=RUNS, noise=noise, seed=seed) for seed in SEEDS]
            found = [labels(traces, seed) for (traces, _), seed in zip(made, SEEDS, strict=True)]
            pairs = [(true, labelled, traces.lengths) for (traces, true), labelled in zip(made, found, strict=True)]
            figures.append(np.mean([adjusted_rand_score(true, labelled) for true, labelled, _ in pairs]))
            figures.append(np.mean([change_f1(*pair) for pair in pairs]))
        ari_1, f1_1, ari_2, f1_2 = figures
        print(f"| {name} | {ari_1:.3f} | {ari_2:.3f} | {f1_1:.2f} | {f1_2:.2f} |")
    print(AI4DL)


def seconds(function: Callable[[], object]) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


def speed() -> None:
    rows = 20_400
    traces = made_traces(runs=220, noise=1.0)[0]
    kept, count = [], 0
    for execution in traces.executions:
        if count + len(execution.times) <= rows:
            kept.append(execution)
            count += len(execution.times)
    traces = replace(traces, executions=tuple(kept))
    print(f"\n### Speed, {traces.samples} samples in {len(kept)} executions, CPU seconds\n")
    print("| | fit | prediction, microseconds per sample |\n|---|---|---|")
    for method in METHODS:
        options = FitOptions(method)
        fit_phases(replace(traces, executions=traces.executions[:4]), options)  # imports
        fitted = fit_phases(traces, options)
        fit, predict = seconds(lambda o=options: fit_phases(traces, o)), seconds(lambda m=fitted: phases_of(m, traces))
        print(f"| {method} | {fit:.2f} | {1e6 * predict / traces.samples:.2f} |")
    print(f"| markov, and the caution of requests | {seconds(lambda: fit_model(traces)):.2f} | |")
    print("| AI4DL, 100 epochs (cited) | 161 | 20 |")
    stream, samples = Stream(fit_phases(traces)), traces.stacked[:2000]

    def all_updates(values: Floats = samples) -> None:
        for t, sample in enumerate(values):
            stream.update(float(t), sample)

    print(f"\nOne update of a stream: {1e6 * seconds(all_updates) / len(samples):.0f} microseconds.")


def many(executions: int = 1_000_000) -> None:
    """A file of very many short executions, as a command reads and fits it."""
    rng = np.random.default_rng(0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "many.csv"
        with path.open("w") as file:
            file.write("timestamp,pod.id,cpu.usage.cores,mem.working.set\n")
            for at, (idle, busy, small, large) in enumerate(rng.uniform(0.9, 1.1, (executions, 4)).tolist()):
                file.write(f"{20 * at},e{at},{0.1 * idle:.4f},{2e8 * small:.0f}\n")
                file.write(f"{20 * at + 20},e{at},{2 * busy:.4f},{2e9 * large:.0f}\n")
        traces, taken = list[Traces](), seconds(lambda: traces.append(read_traces(path)))
    print(f"\n{executions:,} executions of two samples: read in {taken:.1f}, ", end="")
    print(f"fitted in {seconds(lambda: fit(traces[0], FitOptions(), silently)):.1f} CPU seconds.")


def ambiguous(phases: int, seed: int, samples: int = 20_400) -> tuple[Chain, Floats]:
    """A sticky chain whose phases nothing but their order tells apart, and scaled samples."""
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.ones(phases), phases) + 300 * np.eye(phases)
    means = 0.02 * rng.normal(size=(phases, 2))
    chain = Chain(np.full(phases, 1 / phases), transitions / transitions.sum(1, keepdims=True), means, np.full((phases, 2), 0.8))
    return chain, rng.normal(size=(samples, 2))


def labelled(find: Find, chain: Chain, scaled: Floats) -> np.ndarray:
    return find(chain, chain.log_emissions(scaled), [len(scaled)])


def best_paths() -> None:
    print("\n### Prediction where nothing tells phases apart, microseconds per sample, one execution of 20,400\n")
    print("| phases | numpy | compiled (as installed) | the same path |\n|---|---|---|---|")
    for phases in (5, 8, 10):
        made = [ambiguous(phases, seed) for seed in SEEDS]
        paths, cells = [], []
        for find in (in_numpy, viterbi):
            ways = [partial(labelled, find, *one) for one in made]
            took = np.array([1e6 * min(seconds(way) for _ in range(3)) / len(made[0][1]) for way in ways])
            cells.append(f"{took.mean():.2f} ({took.min():.2f} to {took.max():.2f})")
            paths.append(np.concatenate([way() for way in ways]))
        print(f"| {phases} | {' | '.join(cells)} | {'yes' if np.array_equal(*paths) else 'no'} |")


def requests() -> None:
    for noise in (0.3, 1.0):
        traces = made_traces(runs=6, noise=noise, seed=1)[0]
        print(f"\n### Requests, each of {len(traces.executions)} runs left out, noise {noise}; shares of the run's own peak\n")
        print("| allocated by | demand met | CPU | memory | resizes/h |\n|---|---|---|---|---|")
        for name, allocations in leave_out(traces, fit_model).items():
            way = standings(allocations)
            cells = (f"{share.mean:.3f} ({share.low:.3f} to {share.high:.3f})" for share in (way.met, way.cpu, way.memory))
            print(f"| {name} | {' | '.join(cells)} | {way.resizes_per_hour:.1f} |")


def one_execution() -> None:
    """Training on one execution: on its later half and on other runs; the worst of the seeds is told beside the mean."""
    for samples, others in ((2000, 2), (500, 2), (120, 5)):
        print(f"\n### Requests after one execution of {samples} samples, each 20 s; {others} others, {len(SEEDS)} seeds\n")
        print("| allocated by | demand met | in the worst fit | CPU | memory | resizes/h |\n|---|---|---|---|---|---|")
        ways: dict[str, list[tuple[float, ...]]] = {}
        for seed in SEEDS:
            training, *later = _one_and_others(samples, others, seed)
            model = fit_model(Traces((CPU, MEMORY), (training,)))
            for name, allocations in compare(
                Traces((CPU, MEMORY), tuple(later)), Traces((CPU, MEMORY), (training,)), model
            ).items():
                way = standings(allocations)
                ways.setdefault(name, []).append((way.met.mean, way.cpu.mean, way.memory.mean, way.resizes_per_hour))
        for name, rows in ways.items():
            met, cpu, memory, resizes = np.mean(rows, axis=0)
            print(f"| {name} | {met:.3f} | {min(row[0] for row in rows):.3f} | {cpu:.3f} | {memory:.3f} | {resizes:.1f} |")


def _one_and_others(samples: int, others: int, seed: int) -> list[ExecutionTrace]:
    """An execution, its later half where it is long, and other runs of the same job."""
    if samples < 200:
        return [*made_traces(runs=1 + others, noise=1.0, seed=seed)[0].executions]
    whole = long_execution(2 * samples, seed)
    fresh = (long_execution(samples, 100 * (seed + 1) + at) for at in range(others - 1))
    return [whole.part(0, samples), whole.part(samples, 2 * samples), *fresh]


def followed(seeds: Sequence[int] = SEEDS) -> None:
    """Runs that are followed: what they had against what the offline figure promises, on cgroups of files in virtual time."""
    print(f"\n### Followed as it goes on: three runs of each of {len(seeds)} seeds; shares of the run's own peak\n")
    print("| noise | CPU promised | had | memory promised | had | most points above | most resizes in an hour | kills |")
    print("|---|---|---|---|---|---|---|---|")
    for noise in (0.1, 0.3, 1.0):
        promised, had, killed, most = [], [], 0, 0
        for seed in seeds:
            made = made_traces(runs=9, noise=noise, seed=seed)[0]
            model = fit_model(replace(made, executions=made.executions[:6]))
            for trace in made.executions[6:]:
                (allocation,) = allocate(model, replace(made, executions=(trace,)))
                promised.append((allocation.requests / trace.values.max(0)).mean(0))
                with TemporaryDirectory() as folder:
                    cores, size = 1.1 * trace.values.max(0)
                    run = FileCgroup(Path(folder), trace, f"{cores * 1e5:.0f} 100000", f"{size:.0f}")
                    steps = [*follow(model, Cgroup(run.folder, run.clock, apply=True), run.terms(store="../follow.db"))]
                had.append(steps[-1].state.shares)
                times = [step.state.sample.t for step in steps if step.resized]
                most = max(most, *(sum(at <= other < at + 3600 for other in times) for at in times))
                killed += run.killed
        (cpu, memory), (cpu_had, memory_had) = np.mean(promised, axis=0), np.mean(had, axis=0)
        above = 100 * max(cpu_had - cpu, memory_had - memory)
        print(f"| {noise} | {cpu:.3f} | {cpu_had:.3f} | {memory:.3f} | {memory_had:.3f} | {above:+.1f} | {most} | {killed} |")
        if above > 5 or killed or most > 30:
            sys.exit("a run that is followed does not keep what the offline figure promises")


if __name__ == "__main__":
    print("## Phases\n")
    found_phases()
    speed()
    many()
    best_paths()
    requests()
    one_execution()
    followed()
