"""Jobs per second of the cluster lab beside a simulator as they are usually written, on the same jobs, with the same schedules.

Equal processors: jobs drawn after Lublin and Feitelson for 128 processors; both simulate in turn, so that a slow moment meets
both, and every start must be the same. AccaSim 1.1.3 replays the same jobs where it is installed (jpo[bench-accasim]), or in an
environment of its own, whose interpreter --accasim names. Platform: 24 nodes of three GPU types, jobs of one task and of up to
24; many tasks: 16 nodes of two CPU types, jobs of up to 128 tasks of one core; long queues: drawn at five times what the machine
can do. Environment: decisions per second, by Gymnasium.

    python benchmarks/cluster.py [--jobs 5000] [--rounds 5] [--log LOG.SWF --procs P] [--accasim PYTHON] [--json]

Exit code 1 if a claim does not hold.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from peers import event_scheduler

from jpo.plugins.cluster.environment.episode import EpisodeOptions
from jpo.plugins.cluster.machine.discipline import Discipline, run
from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType, equal_processors
from jpo.plugins.cluster.queueing.selection import selection
from jpo.plugins.cluster.queueing.simulate import Rule, simulate
from jpo.plugins.cluster.workload.demand import DemandTable, one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable
from jpo.plugins.cluster.workload.lublin import draw_jobs
from jpo.plugins.cluster.workload.swf import read_swf

KEYS: dict[str, Callable[[event_scheduler.Job], float]] = {
    "fcfs": lambda job: job.submit,
    "sjf": lambda job: job.requested,
    "saf": lambda job: job.requested * job.processors,
}
LEAST = {
    "fcfs": 300_000,
    "fcfs+easy": 120_000,
    "wfp3": 20_000,
    "wfp3+easy long queue": 20_000,
    "platform fcfs": 100_000,
    "decisions job": 20_000,
}
"""Jobs, or decisions, per second that are documented."""
ACCASIM = {"fcfs": "fifo", "sjf": "sjf", "fcfs+easy": "easy"}
"""Rules that AccaSim has, by its names for them. Its EASY decides otherwise than the usual one: waits differ there."""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Jobs per second of the cluster lab beside a usual simulator.")
    parser.add_argument(
        "--jobs", type=int, default=5000, help="jobs to draw (default: 5000); twice on platforms, 20 in long queues"
    )
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each; the median counts (default: 5)")
    parser.add_argument("--log", type=Path, help="a log of the Standard Workload Format in place of drawn jobs")
    parser.add_argument("--procs", type=int, default=128, help="processors of the machine (default: 128)")
    parser.add_argument("--accasim", default=sys.executable, metavar="PYTHON", help="the interpreter that has AccaSim")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    jobs = read_swf(options.log).jobs if options.log else draw_jobs(options.jobs, options.procs, load=0.65, seed=0)
    measured = {
        **queues(jobs, options.procs, options.rounds),
        **long_queues(options.jobs),
        **platforms(2 * options.jobs, options.rounds),
        **many_tasks(2 * options.jobs, options.rounds),
        **decisions(),
    }
    if options.accasim != sys.executable or find_spec("accasim"):
        beside_accasim(measured, jobs, options)
    failed = [name for name, least in LEAST.items() if measured[name]["per_second"] < least]
    if options.json:
        print(json.dumps({"measured": measured, "least": LEAST, "failed": failed}))
    else:
        print(table(measured, len(jobs), options))
    return 1 if failed else 0


def queues(jobs: JobTable, processors: int, rounds: int) -> dict[str, dict[str, float]]:
    """Jobs per second of both, by rule; SystemExit where a start differs."""
    found: dict[str, dict[str, float]] = {}
    for name in ("fcfs", "sjf", "saf", "wfp3"):
        for easy in (False, True):
            rule = Rule(name, "easy" if easy else "none")
            ours, theirs = [], []
            for _ in range(rounds):
                began = time.perf_counter()
                starts = simulate(jobs, processors, rule)
                ours.append(len(jobs) / (time.perf_counter() - began))
                if name not in KEYS:
                    continue
                listed = as_objects(jobs)
                began = time.perf_counter()
                other = event_scheduler.simulate(listed, processors, KEYS[name], easy=easy)
                theirs.append(len(jobs) / (time.perf_counter() - began))
                if not np.array_equal(starts, other):
                    raise SystemExit(f"{rule.name}: schedules differ")
            found[rule.name] = {"per_second": statistics.median(ours)}
            if theirs:
                found[rule.name] |= {
                    "peer": statistics.median(theirs),
                    "ratio": statistics.median(ours) / statistics.median(theirs),
                }
    return found


def as_objects(jobs: JobTable) -> list[event_scheduler.Job]:
    """Jobs as the peer takes them."""
    columns = (jobs.ids, jobs.submit_seconds, jobs.run_seconds, jobs.requested_seconds, jobs.processors)
    return [event_scheduler.Job(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def platforms(count: int, rounds: int) -> dict[str, dict[str, float]]:
    """Jobs per second on nodes that differ; jobs of one task of 1 to 8 GPUs."""
    cpu = ProcessorType("cpu", "cpu", 64, 1.0, 3.0)
    gpus = [
        ProcessorType(name, "gpu", 8, speed, watts) for name, speed, watts in (("a", 1.0, 400), ("b", 0.5, 300), ("c", 2.0, 700))
    ]
    platform = Platform("three types", tuple(NodeGroup("c", NodeType(gpu.name, (cpu, gpu), 512), 8) for gpu in gpus))
    drawn = draw_jobs(count, 192, load=0.9, seed=1)
    jobs = replace(drawn, processors=np.minimum(drawn.processors, 8))
    devices = jobs.processors
    nothing = np.zeros(count)
    ones = np.ones(count, dtype=np.int64)
    demand = DemandTable(ones, 4 * devices, devices, 8.0 * devices, nothing, ("",) * count, ("",) * count, nothing + np.inf)
    scattered = replace(drawn, processors=np.where(drawn.processors > 8, -(-drawn.processors // 8) * 8, drawn.processors))
    tasks, gpus_each = -(-scattered.processors // 8), np.minimum(scattered.processors, 8)
    several = DemandTable(
        tasks, 4 * gpus_each, gpus_each, 8.0 * gpus_each, nothing, ("",) * count, ("",) * count, nothing + np.inf
    )
    return {
        **on_platform("platform", jobs, demand, platform, rounds),
        **on_platform("platform several nodes", scattered, several, platform, rounds),
    }


def many_tasks(count: int, rounds: int) -> dict[str, dict[str, float]]:
    """Jobs per second on 8 nodes of 8 fast cores and 8 nodes of 2 x 4 slow ones; each processor of a drawn job is a task."""
    fast, slow = ProcessorType("fast", "cpu", 8), ProcessorType("slow", "cpu", 4, 0.8)
    nodes = NodeType("fast", (fast,), 256), NodeType("slow", (slow, slow), 256)
    platform = Platform("two types", tuple(NodeGroup("c", node, 8) for node in nodes))
    jobs = draw_jobs(count, 128, load=0.65, seed=0)
    found = on_platform("many tasks", jobs, one_core_each(jobs), platform, rounds, ("first", "best_fit", "spread"))
    few = jobs.rows(slice(0, count // 5))
    began = time.perf_counter()
    run(few, one_core_each(few), platform, Discipline(selection("fcfs", seed=0), "first", "conservative"))
    return found | {"many tasks fcfs+conservative": {"per_second": len(few) / (time.perf_counter() - began)}}


def on_platform(
    name: str,
    jobs: JobTable,
    demand: DemandTable,
    platform: Platform,
    rounds: int,
    resources: Sequence[str] = ("first", "best_fit"),
) -> dict[str, dict[str, float]]:
    """Jobs per second, first come first served with and without EASY."""
    found = {}
    for resource in resources:
        for backfilling in ("none", "easy"):
            speeds = []
            for _ in range(rounds):
                began = time.perf_counter()
                run(jobs, demand, platform, Discipline(selection("fcfs", seed=0), resource, backfilling))
                speeds.append(len(jobs) / (time.perf_counter() - began))
            chosen = "fcfs" if resource == "first" else f"fcfs-{resource}"
            rule = Rule(chosen, "easy" if backfilling == "easy" else "none").name
            found[f"{name} {rule}"] = {"per_second": statistics.median(speeds)}
    return found


def long_queues(jobs: int) -> dict[str, dict[str, float]]:
    """Jobs per second where tens of thousands wait, and for conservative backfilling; once each."""
    found = {}
    for label, count, load, rules in (
        ("long queue", 20 * jobs, 5.0, (Rule("wfp3", "easy"), Rule("saf", "easy"))),
        ("", jobs, 0.9, (Rule("fcfs", "conservative"), Rule("saf", "conservative"))),
    ):
        drawn = draw_jobs(count, 128, load=load, seed=0)
        for rule in rules:
            began = time.perf_counter()
            simulate(drawn, 128, rule)
            found[f"{rule.name} {label}".strip()] = {"per_second": count / (time.perf_counter() - began)}
    return found


def beside_accasim(measured: dict[str, dict[str, float]], jobs: JobTable, options: argparse.Namespace) -> None:
    """Add AccaSim's jobs per second on the same jobs, once each, without its reading of the log."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "jobs.swf")
        columns = (jobs.ids, jobs.submit_seconds, jobs.run_seconds, jobs.processors, jobs.requested_seconds)
        log.write_text(
            "".join(
                f"{job} {submit:.0f} -1 {ran:.0f} {count} -1 -1 {count} {asked:.0f} -1 1 1 1 1 1 1 -1 -1\n"
                for job, submit, ran, count, asked in zip(*(column.tolist() for column in columns), strict=True)
            )
        )
        script = Path(__file__).resolve().parent / "peers/accasim_run.py"
        for rule, policy in ACCASIM.items():
            command = [options.accasim, str(script), str(log), str(options.procs), policy]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout)
            ours = measured[rule]["per_second"]
            measured[rule]["accasim"] = found["jobs"] / found["seconds"]
            measured[rule]["accasim_ratio"] = ours / measured[rule]["accasim"]


def decisions() -> dict[str, dict[str, float]]:
    """Decisions per second through Gymnasium, observations and rewards included."""
    try:
        from jpo.plugins.cluster.agents.sequences import Sequences
        from jpo.plugins.cluster.environment.gym import ClusterEnv
    except ImportError as error:
        raise SystemExit('needs gymnasium, which is not installed: pip install "jpo[cluster]"') from error
    jobs = draw_jobs(4000, 128, load=0.9, seed=2)
    source = Sequences(jobs, one_core_each(jobs), equal_processors(128), 512)
    found = {}
    for mode in ("job", "backfill", "pair"):
        env = ClusterEnv(source, EpisodeOptions(mode, slots=16))
        steps, began = 0, time.perf_counter()
        for seed in range(6):
            env.reset(seed=seed)
            over = False
            while not over:
                _, _, over, _, _ = env.step(np.int64(np.argmax(env.action_masks())))
                steps += 1
        found[f"decisions {mode}"] = {"per_second": steps / (time.perf_counter() - began)}
    return found


def table(measured: dict[str, dict[str, float]], jobs: int, options: argparse.Namespace) -> str:
    lines = [
        "## Cluster lab",
        "",
        f"`python benchmarks/cluster.py`: {jobs} jobs on {options.procs} processors, median of {options.rounds}, one core. The",
        "peer is a simulator as they are usually written (objects, everything sorted anew); every start is the same. AccaSim",
        f"1.1.3 replays the same jobs once. Platform: {2 * options.jobs:,} jobs, 24 nodes of three GPU types. Many tasks: as",
        "many, each processor a task, 8 nodes of 8 fast cores and 8 of 2 x 4 slow ones. Long queue, five times what the machine",
        f"can do: {20 * options.jobs:,} jobs. Decisions: through Gymnasium.",
        "",
        "| what | per second | peer | ratio | AccaSim | ratio | at least |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in measured.items():
        peer = f"{one['peer']:,.0f} | {one['ratio']:.1f}" if "peer" in one else " | "
        accasim = f"{one['accasim']:,.0f} | {one['accasim_ratio']:,.0f}" if "accasim" in one else " | "
        least = f"{LEAST[name]:,}" if name in LEAST else ""
        lines.append(f"| {name} | {one['per_second']:,.0f} | {peer} | {accasim} | {least} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
