"""The third part of the command line: what runs would take and cost, what is promised, what resources cost.

Nothing here changes config.ini or the store.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import as_number, config_of, pairs, seconds_until, settings
from jpo.cli.options import FILE, colour_option, config_ini, options, seed_option, toml_option, verbose_option
from jpo.cli.output import can_be_kept, coloured, put, save, width, writable
from jpo.errors import UsageError

AMOUNT = "AMOUNT"
FORMATS = click.Choice(["text", "json"])
format_option = click.option("-o", "--format", "form", type=FORMATS, default="text", show_default=True)
result_option = click.option(
    "--output-file", "files", type=FILE, multiple=True, help="Write it there too; .json chooses its form."
)


@click.command()
@config_ini
@click.option("--set", "chosen", multiple=True, metavar="NAME=VALUE", help="What if this value were another; may be repeated.")
@click.option("--vary", "varied", multiple=True, metavar="NAME=V,V,...", help="A row for each value, e.g. gpus=1,2,4,8.")
@click.option("--spot", is_flag=True, help="On spot prices beside the others.")
@click.option("--trials", type=FILE, multiple=True, metavar="LOG", help="CSV log of a small trial; may be repeated.")
@click.option("--fraction", type=float, help="Share of the data in trials whose log has no `# data_fraction=`; default: all.")
@click.option("--deadline", metavar="WHEN", help="The cheapest that is done by then: 6h, or 2026-11-22T06:00Z.")
@click.option("--max-cost", metavar=AMOUNT, help="The fastest that costs no more, in USD, or e.g. 20EUR.")
@format_option
@result_option
@options(seed_option, toml_option, colour_option, verbose_option)
def predict(
    given: Path | None,
    chosen: Sequence[str],
    varied: Sequence[str],
    trials: Sequence[Path],
    fraction: float | None,
    deadline: str | None,
    max_cost: str | None,
    form: str,
    files: Sequence[Path],
    seed: int,
    toml: Path | None,
    *,
    spot: bool,
    no_color: bool,
    verbose: bool,
) -> int:
    """What configurations would take and cost, and what that rests on.

    Time, cost, memory, utilisation and loss with 90% intervals. Nothing is put on record, and no server is asked.
    Exit code 3: nothing keeps to --deadline and --max-cost.

    \b
    Examples:
      jpo predict config.ini --vary gpus=1,2,4,8 --spot
      jpo predict config.ini --set gpus=4 --deadline 6h
      jpo predict config.ini --trials trial-1.csv --trials trial-2.csv --fraction 0.1
    """
    from jpo.commands.predict import predict as command
    from jpo.commands.predict import rendered
    from jpo.optimizer.question import Question

    loaded = settings(given, toml, {})
    config = config_of(given, loaded)
    writable(files, config, loaded)
    if lost := {file.resolve() for file in files} & {log.resolve() for log in trials}:
        raise UsageError(str(min(lost)), "is the log of a trial", "name another file", code="JPO-E307")
    now = time.time()
    asked = Question(
        chosen={name: as_number(name, text) for name, text in pairs("--set", chosen).items()},
        varied=pairs("--vary", varied),
        spot=spot,
        trials=trials,
        fraction=fraction,
        deadline_seconds=None if deadline is None else seconds_until("--deadline", deadline, now),
        max_cost=max_cost,
    )
    answer = command(config, loaded, asked, seed=seed, now=now)
    for file in files:
        save(file, rendered(answer, "json" if file.suffix == ".json" else form, width=120, colour=False))
    put(rendered(answer, form, width=width(), colour=coloured(no_color)))
    return answer.exit_code


@click.command()
@config_ini
@click.option(
    "--objectives", metavar="A,B[,...]", help="Of time, cost, loss, efficiency; default: time,cost where cost is known."
)
@click.option("--reference", metavar="NAME=V,...", help="Reference point of the hypervolume; default: 1.1 times the worst run.")
@click.option("--plot", "picture", type=FILE, metavar="FILE", help="The front as a picture: .png or .svg.")
@format_option
@result_option
@options(seed_option, toml_option, colour_option, verbose_option)
def pareto(
    given: Path | None,
    objectives: str | None,
    reference: str | None,
    picture: Path | None,
    form: str,
    files: Sequence[Path],
    seed: int,
    toml: Path | None,
    *,
    no_color: bool,
    verbose: bool,
) -> None:
    """The trade-off front: measured runs, and predicted configurations marked as such.

    \b
    Examples:
      jpo pareto config.ini --plot front.svg
      jpo pareto config.ini --objectives time,cost,loss -o json
    """
    from jpo.commands.pareto import can_plot, plot, rendered
    from jpo.commands.pareto import pareto as command

    loaded = settings(given, toml, {})
    config = config_of(given, loaded)
    if picture:
        can_plot(picture)
    writable([*files, *([picture] if picture else [])], config, loaded)
    front = command(config, loaded, objectives=objectives, reference=reference, seed=seed, now=time.time())
    for file in files:
        save(file, rendered(front, "json" if file.suffix == ".json" else form, width=120, colour=False))
    if picture:
        plot(front, picture)
    put(rendered(front, form, width=width(), colour=coloured(no_color)))


@click.group()
def prices() -> None:
    """What resources cost, and where that is known from."""


@prices.command("show")
@config_ini
@click.option("--gpu-type", metavar="TYPE", help="Only instances with these GPUs, e.g. a10g.")
@format_option
@options(toml_option, colour_option, verbose_option)
def show_prices(given: Path | None, gpu_type: str | None, form: str, toml: Path | None, *, no_color: bool, verbose: bool) -> None:
    """Prices in force, with source and date; what an hour of today's configuration costs; the catalogue's instances.

    \b
    Examples:
      jpo prices show
      jpo prices show --gpu-type a10g -o json
    """
    from jpo.commands.prices import show as command

    loaded = settings(given, toml, {})
    told = command(
        config_of(given, loaded), loaded, gpu_type=gpu_type, form=form, now=time.time(), width=width(), colour=coloured(no_color)
    )
    put(told)


@prices.command("refresh")
@click.argument("file", type=FILE, metavar="FILE.csv")
@click.option("--region", default="us-east-1", show_default=True, metavar="REGION", help="Whose prices.")
@click.option(
    "--families", default="p3,p3dn,p4d,p4de,p5,g4dn,g5,g6", show_default=True, metavar="A,B,...", help="Instance families."
)
@click.option("--timeout", metavar="DURATION", default="60s", show_default=True, help="Deadline for all requests together.")
@options(verbose_option)
def refresh_prices(file: Path, region: str, families: str, timeout: str, *, verbose: bool) -> None:
    """Read AWS' on-demand prices and the last week's spot prices into a catalogue file (needs jpo[aws]).

    \b
    Example:
      jpo prices refresh aws.csv --region eu-central-1      then: [prices] catalogue = "aws.csv"
    """
    from jpo.commands.prices import refresh as command

    can_be_kept([file])
    put(command(file, region=region, families=families.split(","), timeout=timeout, now=time.time()))


@click.group()
def sla() -> None:
    """What runs promise, and whether they keep it."""


@sla.command("check")
@click.argument("run", required=False)
@click.option("--csv", "logs", type=FILE, multiple=True, metavar="FILE", help="CSV log of a run; may be repeated.")
@click.option("--for", "given", type=FILE, metavar="CONFIG.INI", help="Runs of this workload; default: config.ini.")
@format_option
@options(toml_option, colour_option, verbose_option)
def check_sla(
    run: str | None,
    logs: Sequence[Path],
    given: Path | None,
    form: str,
    toml: Path | None,
    *,
    no_color: bool,
    verbose: bool,
) -> int:
    """Hold a run against [sla]: met, violated or unknown per promise, and how often all runs kept it. Violated: exit 3.

    Without RUN and logs it is the newest run on record.

    \b
    Examples:
      jpo sla check
      jpo sla check run-17
      jpo sla check --csv runs/2026-11-21.csv -o json
    """
    from jpo.commands.sla import check as command

    loaded = settings(given, toml, {})
    text, code = command(
        config_of(given, loaded),
        loaded,
        run_id=run,
        logs=logs,
        form=form,
        now=time.time(),
        environ=os.environ,
        width=width(),
        colour=coloured(no_color),
    )
    put(text)
    return code


@sla.command("suggest")
@config_ini
@click.option(
    "--keep",
    "share",
    type=click.FloatRange(0.5, 0.999),
    default=0.95,
    show_default=True,
    help="Share of runs that shall keep it.",
)
@format_option
@options(toml_option, colour_option, verbose_option)
def suggest_sla(given: Path | None, share: float, form: str, toml: Path | None, *, no_color: bool, verbose: bool) -> None:
    """Thresholds for [sla] that runs like the last ones would keep, as lines for jpo.toml.

    \b
    Example:
      jpo sla suggest config.ini
    """
    from jpo.commands.sla import suggest as command

    loaded = settings(given, toml, {})
    put(
        command(
            config_of(given, loaded), loaded, share=share, form=form, now=time.time(), width=width(), colour=coloured(no_color)
        )
    )
