"""The model of the cluster lab that comes along beside the field's rules, on workloads that it has not seen.

GPUs: jobs drawn with other seeds for the platform of its training, and for platforms, loads and classes of models drawn at
random. Logs: jobs drawn for equal processors, or real logs (--log), where it is anchored on the first part as `jpo cluster test
--anchored` does. Rules are SAF+EASY and F1+EASY with the resource selection of the model, and SAF+EASY with the one of four that
does best there. Sequences of 256 jobs that do not overlap; 95% intervals of the difference by bootstrap over them.

    python benchmarks/cluster_policies.py [--model MODEL] [--platforms 12] [--jobs 2048] [--log LOG.SWF ...] [--json]

Exit code 1 if on GPUs an interval of the difference to SAF+EASY or F1+EASY is not below 0, or on a log one is above 0.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from jpo.plugins.cluster.agents.anchor import MARGINS, anchor
from jpo.plugins.cluster.agents.contest import SequenceScores
from jpo.plugins.cluster.agents.model import SHIPPED, read_agent
from jpo.plugins.cluster.agents.reserving import Reserving, values_of_rule
from jpo.plugins.cluster.agents.sequences import Sequence, Sequences
from jpo.plugins.cluster.platform.described import read_platform
from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType, equal_processors
from jpo.plugins.cluster.queueing.simulate import Rule
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable
from jpo.plugins.cluster.workload.lublin import draw_jobs, draw_work
from jpo.plugins.cluster.workload.swf import read_swf

LENGTH = 256
OBJECTIVES = ("slowdown", "turnaround")
PLACED = ("first", "high_gflops", "best_fit", "pack")
OF_TRAINING = Path(__file__).resolve().parents[1] / "examples/cluster/gpus.toml"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="The cluster lab's model beside SAF+EASY and F1+EASY.")
    parser.add_argument("--model", type=Path, default=SHIPPED, help="another model of a reserve")
    parser.add_argument("--platforms", type=int, default=12, help="platforms to draw (default: 12)")
    parser.add_argument("--jobs", type=int, default=2048, help="jobs of each workload (default: 2048)")
    parser.add_argument("--log", type=Path, action="append", default=[], help="a real log besides; its header has the machine")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    agent, _ = read_agent(options.model)
    if not isinstance(agent, Reserving):
        raise SystemExit(f"{options.model} is no model of a reserve")
    found = {name: judged(agent, drawn) for name, drawn in on_gpus(options.platforms, options.jobs)}
    for name, jobs, processors in logs(options.log, options.jobs):
        found[name] = anchored(agent, jobs, processors)
    failed = [
        name
        for name, one in found.items()
        for rule in ("saf", "f1")
        if (one[rule]["low"] > 0 if "margin" in one else one[rule]["high"] >= 0)
    ]
    print(json.dumps({"found": found, "failed": failed}) if options.json else table(found))
    return 1 if failed else 0


def on_gpus(platforms: int, count: int) -> Iterator[tuple[str, list[Sequence]]]:
    """Workloads by name: with seeds from 1001 on, which training has not seen."""
    known = read_platform(OF_TRAINING)
    for load in (0.7, 0.9, 1.05):
        yield f"GPUs of its training, load {load:g}", parts(known, count * 4, load, 1000 + int(100 * load))
    drawn = [platform_of(seed) for seed in range(1001, 1001 + platforms)]
    loads = np.random.default_rng(0).uniform(0.7, 1.05, platforms)
    several = [
        parts(platform, count, float(load), 2000 + place) for place, (platform, load) in enumerate(zip(drawn, loads, strict=True))
    ]
    yield f"{platforms} other platforms, loads 0.7 to 1.05", [one for some in several for one in some]


def platform_of(seed: int) -> Platform:
    """Two or three GPU types in 3 to 8 nodes of 4 or 8 each, of speeds from 0.3 to 2.5 that differ by class of models."""
    rng = np.random.default_rng(seed)
    groups = []
    for place, speed in enumerate(np.exp(rng.uniform(np.log(0.3), np.log(2.5), int(rng.integers(2, 4)))).tolist()):
        speeds = {name: speed * float(np.exp(rng.normal(0, 0.35))) for name in ("vision", "language", "recommender")}
        gpu = ProcessorType(f"gpu-{place}", "gpu", int(rng.choice([4, 8])), speed, 300.0, speeds=speeds)
        node = NodeType(f"node-{place}", (ProcessorType("cpu", "cpu", 64), gpu))
        groups.append(NodeGroup("c", node, int(rng.integers(3, 9))))
    return Platform(f"platform {seed}", tuple(groups))


def parts(platform: Platform, count: int, load: float, seed: int) -> list[Sequence]:
    jobs, demand = draw_work(count, platform, load=load, seed=seed)
    return Sequences(jobs, demand, platform, LENGTH).one_after_the_other()


def judged(agent: Reserving, drawn: list[Sequence]) -> dict[str, dict[str, float]]:
    """Means of the model and of rules, and the difference of the bounded slowdown with its interval."""
    resources = agent.options.resources
    rules = {"saf": Rule("saf", "easy", resources), "f1": Rule("f1", "easy", resources)}
    placed = PLACED if len(drawn[0][2].nodes) > 1 else ()
    values = {name: np.array([values_of_rule(rule, one, OBJECTIVES) for one in drawn]) for name, rule in rules.items()}
    others = [np.array([values_of_rule(Rule("saf", "easy", one), part, OBJECTIVES) for part in drawn]) for one in placed]
    values["best"] = min(others or [values["saf"]], key=lambda found: float(found[:, 0].mean()))
    values["model"] = np.array([agent.values(one, OBJECTIVES) for one in drawn])
    scores = SequenceScores("slowdown", {name: found[:, 0] for name, found in values.items()})
    figures = {}
    for name, found in values.items():
        mean, low, high = scores.difference("model", name)
        figures[name] = {"slowdown": found[:, 0].mean(), "turnaround_hours": found[:, 1].mean() / 3600}
        if name != "model":
            figures[name] |= {"difference": mean, "low": low, "high": high}
    return figures


def logs(real: list[Path], count: int) -> Iterator[tuple[str, JobTable, int]]:
    for load in (0.6, 0.9):
        yield f"drawn for 128 processors, load {load:g}", draw_jobs(4 * count, 128, load=load, seed=3001), 128
    for path in real:
        log = read_swf(path)
        if log.machine_processors is None:
            raise SystemExit(f"{path} does not say how many processors there are")
        yield path.name, log.jobs, log.machine_processors


def anchored(agent: Reserving, jobs: JobTable, processors: int) -> dict[str, dict[str, float]]:
    """The same for the last 30% of a log, with the margin that paid on what was before."""
    sequences = (jobs, one_core_each(jobs), equal_processors(processors), LENGTH)
    anchor(agent, Sequences(*sequences, 0.0, 0.7).one_after_the_other(), "slowdown", range(1 + len(MARGINS)))
    figures = judged(agent, Sequences(*sequences, 0.7, 1.0).one_after_the_other())
    figures["margin"] = {"margin": agent.margin if np.isfinite(agent.margin) else -1.0}
    agent.margin = 0.0
    return figures


def table(found: dict[str, dict[str, dict[str, float]]]) -> str:
    lines = [
        "`python benchmarks/cluster_policies.py`: average bounded slowdown, and in brackets hours of turnaround. The",
        "difference is the model less SAF+EASY (F1+EASY) with its 95% interval; below 0 the model is better.",
        "",
        "| workload | model | SAF+EASY | with the best placement | F1+EASY | less SAF+EASY | less F1+EASY |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, one in found.items():
        cells = [f"{one[key]['slowdown']:.1f} ({one[key]['turnaround_hours']:.1f})" for key in ("model", "saf", "best", "f1")]
        gaps = [f"{one[key]['difference']:.1f} ({one[key]['low']:.1f} to {one[key]['high']:.1f})" for key in ("saf", "f1")]
        margin = one.get("margin", {}).get("margin", 0.0)
        said = "; anchored: the rule" if margin < 0 else "; anchored" if "margin" in one else ""
        lines.append(f"| {name}{said} | {' | '.join((*cells, *gaps))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
