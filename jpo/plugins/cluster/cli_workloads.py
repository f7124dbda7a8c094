"""Options that the commands of the cluster lab share: which jobs on which machine, and under which policies."""

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from jpo.cli.options import FILE, F, SharedOption, gathered, options

SELECTIONS_HELP = (
    "fcfs, sjf, ljf, saf, smallest, low_mem, low_mem_bw, f1, f2, f3, f4, wfp3, unicep, random; one may bring its "
    "resource selection and backfilling, and resize jobs with min_tasks and max_tasks: saf-pack+easy+elastic."
)
RESOURCES_HELP = (
    "On a platform: first, high_gflops, low_power, high_cores, high_mem, high_mem_bw, best_fit, worst_fit, spread, pack, "
    "phase_pack, random."
)
SOURCES = ("logs", "draw", "load", "procs", "first", "oversized", "platform", "kill")


class WorkloadOption(SharedOption):
    """One of those that say which jobs there are on which machine."""

    heading = "Jobs and machine"
    where = "jpo cluster --help"


def workload_options(function: F) -> F:
    """What says which jobs there are on which machine, as the argument `sources`."""
    shared = partial(click.option, cls=WorkloadOption)
    decorate: Callable[[F], F] = options(
        shared("--workload", "logs", type=FILE, multiple=True, metavar="LOG", help="SWF (also .gz), or training jobs (.csv)."),
        shared("--draw", type=click.IntRange(1, 1_000_000), metavar="JOBS", help="Draw so many jobs, others for each seed."),
        shared("--load", type=click.FloatRange(0.01, 10), default=0.9, help="Load of drawn jobs."),
        shared("--procs", type=click.IntRange(1, 100_000_000), help="Processors of the machine; default: as the log says."),
        shared("--platform", type=FILE, metavar="PLATFORM.TOML", help="Nodes and devices that differ, in place of --procs."),
        shared("--first", type=click.IntRange(1), metavar="JOBS", help="Only the earliest jobs of each log."),
        shared(
            "--oversized",
            type=click.Choice(["refuse", "drop", "clip"]),
            default="refuse",
            help="Jobs larger than the machine: an error, left out, or given all of it.",
        ),
        shared("--kill", is_flag=True, help="End jobs at their requested time, on a platform."),
    )
    return decorate(gathered(function, "sources", _sources, SOURCES))


def _sources(**given: Any) -> object:
    from jpo.plugins.cluster.story.scenarios import Sources

    return Sources(**given)


policy_options = options(
    click.option("--policy", "policies", multiple=True, default=["fcfs"], metavar="A,B,...", help=SELECTIONS_HELP),
    click.option("--backfill", multiple=True, default=["none"], metavar="A,B,...", help="none, easy, conservative."),
    click.option("--resource", "resources", multiple=True, metavar="A,B,...", help=RESOURCES_HELP),
)
