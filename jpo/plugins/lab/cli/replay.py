"""`jpo lab replay`: its options and help."""

import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.options import FILE, output_options, seed_option, toml_option
from jpo.cli.output import READABLE, Output, can_be_kept, track, writable
from jpo.cli.workers import spread_options
from jpo.policies import POLICIES
from jpo.records.progress import Spread

POLICIES_HELP = (
    "Policies to replay: jpo, default, random, hillclimb, zeus (used unless given); jpo-bold, optuna-tpe, optuna-gp, gp-ei; "
    "JPO as [agent] policy would have it: " + ", ".join(POLICIES) + "."
)


@click.command()
@click.argument("given", nargs=-1, type=FILE, metavar="[TRACE.CSV | CONFIG.INI]...")
@click.option("--policies", metavar="A,B,...", help=POLICIES_HELP)
@click.option("--runs", metavar="N,N,...", default="5,10,20,40", help="Horizons; the last one is played.")
@click.option("--seeds", type=click.IntRange(1, 10_000), default=20, help="Replays of each policy.")
@click.option("--objective", "objectives", multiple=True, default=["balanced"], help="time, cost or balanced; repeatable.")
@click.option("--knob", "knobs", type=click.Choice(["power_limit_w"]), multiple=True, help="Let policies choose this too.")
@output_options(*READABLE, files=True)
@click.option("--plot", "picture", type=FILE, metavar="FILE", help="Cost against runs as a picture: .png or .svg.")
@spread_options("--jobs")
@seed_option
@click.option("-v", "--verbose", is_flag=True, help="A table for each workload too; a traceback for internal errors.")
@toml_option
def replay(
    given: Sequence[Path],
    policies: str | None,
    runs: str,
    seeds: int,
    objectives: Sequence[str],
    knobs: Sequence[str],
    output: Output,
    picture: Path | None,
    spread: Spread,
    toml: Path | None,
    *,
    seed: int,
    verbose: bool,
) -> None:
    """Show how JPO and its peers would have done.

    On recorded runs: traces, or a config.ini's own history. Needs jpo[replay].

    \b
    Examples:
      jpo lab replay traces/*.csv --objective time,cost --plot replay.png
      jpo lab replay traces/ncf.csv --policies jpo,hillclimb,optuna-gp --runs 5,10 -o json
      jpo lab replay config.ini                            your own history, as far as it goes
    """
    from jpo.plugins.lab.report import replay as subject
    from jpo.plugins.lab.story import replay as command
    from jpo.report.forms.picture import save

    traces = [path for path in given if path.suffix.lower() == ".csv"]
    own = [(path, load_settings(path, toml, {})) for path in given if path not in traces]
    if not given:
        settings = load_settings(None, toml, {})
        own = [(config_of(None, settings), settings)]
    results = [*output.files, *([picture] if picture else [])]
    for config, settings in own:
        writable(results, config, settings)
    command.refuse_outputs(results, picture, traces)
    can_be_kept(results)
    wanted = command.ReplayOptions(
        policies=command.named_policies(policies or command.QUICK_POLICIES),
        horizons=command.horizons(runs),
        objectives=command.named_objectives(objectives),
        seeds=range(seed, seed + seeds),
        opened=tuple(knobs),
        spread=spread,
        each_workload=verbose,
    )
    played = command.replay(traces, own, wanted, now=time.time(), track=track)
    if picture:
        save(subject.charts(played.result), picture, f"jpo lab replay: {subject.headline(played.contest)}")
    output.show(subject, played)
