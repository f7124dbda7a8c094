"""`jpo cluster`: its commands, their options and help."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from jpo.cli.options import FILE, output_options, seed_option, verbose_option
from jpo.cli.output import Output, can_be_kept, not_settings, track

SELECTIONS_HELP = (
    "fcfs, sjf, ljf, saf, smallest, low_mem, low_mem_bw, f1, f2, f3, f4, wfp3, unicep, random; one may bring its "
    "resource selection and backfilling: saf-pack+easy."
)
RESOURCES_HELP = (
    "On a platform: first, high_gflops, low_power, high_cores, high_mem, high_mem_bw, best_fit, worst_fit, spread, pack, random."
)


@click.group()
def cluster() -> None:
    """Judge policies of workload management on clusters."""


@cluster.command("evaluate")
@click.option(
    "--workload", "logs", type=FILE, multiple=True, metavar="LOG", help="SWF, also .gz, or training jobs as .csv; repeatable."
)
@click.option("--draw", type=click.IntRange(1, 1_000_000), metavar="JOBS", help="Draw so many jobs, others for each seed.")
@click.option("--load", type=click.FloatRange(0.01, 10), default=0.9, show_default=True, help="Load of drawn jobs.")
@click.option("--procs", type=click.IntRange(1, 100_000_000), help="Processors of the machine; default: as the log says.")
@click.option("--first", type=click.IntRange(1), metavar="JOBS", help="Only the earliest jobs of each log.")
@click.option("--policy", "policies", multiple=True, default=["fcfs"], metavar="A,B,...", help=SELECTIONS_HELP)
@click.option("--backfill", multiple=True, default=["none"], metavar="A,B,...", help="none, easy, conservative.")
@click.option("--platform", type=FILE, metavar="PLATFORM.TOML", help="Nodes and devices that differ, in place of --procs.")
@click.option("--resource", "resources", multiple=True, metavar="A,B,...", help=RESOURCES_HELP)
@click.option("--kill", is_flag=True, help="End jobs at their requested time, on a platform.")
@click.option("--seeds", type=click.IntRange(1, 10_000), default=1, show_default=True, help="Of drawn jobs and `random`.")
@seed_option
@click.option(
    "--oversized",
    type=click.Choice(["refuse", "drop", "clip"]),
    default="refuse",
    show_default=True,
    help="Jobs larger than the machine: an error, left out, or given all of it.",
)
@click.option(
    "--fail-if", "claims", multiple=True, metavar="CLAIM", help='e.g. "saf+easy worse than fcfs+easy by 5%": exit code 3.'
)
@click.option("--jobs", "processes", type=click.IntRange(1), help="Processes at once; default: one per core.")
@click.option("--backend", type=click.Choice(["loky", "threading", "ray"]), default="loky", show_default=True)
@output_options("text", "json", "csv", "markdown", "html", files=True)
@verbose_option
def evaluate(
    logs: Sequence[Path],
    draw: int | None,
    load: float,
    procs: int | None,
    first: int | None,
    policies: Sequence[str],
    backfill: Sequence[str],
    platform: Path | None,
    resources: Sequence[str],
    seeds: int,
    seed: int,
    oversized: Literal["refuse", "drop", "clip"],
    claims: Sequence[str],
    processes: int | None,
    backend: Literal["loky", "threading", "ray"],
    output: Output,
    *,
    kill: bool,
) -> None:
    """Simulate a workload under policies.

    Waits, slowdowns, makespan and utilisation of each policy.

    \b
    Examples:
      jpo cluster evaluate --workload log.swf --procs 128 --policy sjf --backfill easy -o json
      jpo cluster evaluate --workload log.swf.gz --policy fcfs,saf,f1 --backfill none,easy
      jpo cluster evaluate --draw 5000 --procs 256 --seeds 10 --policy fcfs+easy,saf+easy \\
          --fail-if "saf+easy worse than fcfs+easy by 5%"
    """
    from jpo.commands.cluster import evaluate as command
    from jpo.report.cluster import evaluation as subject

    not_settings(output.files)
    can_be_kept(output.files)
    rules = command.named_rules(policies, backfill, resources or ("",))
    options = command.EvaluateOptions(
        rules, range(seed, seed + seeds), command.named_claims(claims, rules), processes=processes, backend=backend
    )
    sources = command.Sources(tuple(logs), draw or 0, load, procs, first, oversized, platform, kill)
    evaluated = command.evaluate(sources, options, track=track)
    output.show(subject, evaluated)
    command.fail_if(options.claims, evaluated)
