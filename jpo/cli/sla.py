"""`jpo sla`: its options and help."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.options import FILE, colour_option, config_ini, options, toml_option, verbose_option
from jpo.cli.output import coloured, put, width


@click.group()
def sla() -> None:
    """What runs promise, and whether they keep it."""


@sla.command("check")
@click.argument("run", required=False)
@click.option("--csv", "logs", type=FILE, multiple=True, metavar="FILE", help="CSV log of a run; may be repeated.")
@click.option("--for", "given", type=FILE, metavar="CONFIG.INI", help="Runs of this workload; default: config.ini.")
@click.option("-o", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options(toml_option, colour_option, verbose_option)
def check_sla(
    run: str | None,
    logs: Sequence[Path],
    given: Path | None,
    form: str,
    toml: Path | None,
    *,
    no_color: bool,
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

    settings = load_settings(given, toml, {})
    text, code = command(
        config_of(given, settings),
        settings,
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
@click.option("-o", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options(toml_option, colour_option, verbose_option)
def suggest_sla(given: Path | None, share: float, form: str, toml: Path | None, *, no_color: bool) -> None:
    """Thresholds for [sla] that runs like the last ones would keep, as lines for jpo.toml.

    \b
    Example:
      jpo sla suggest config.ini
    """
    from jpo.commands.sla import suggest as command

    settings = load_settings(given, toml, {})
    put(
        command(
            config_of(given, settings),
            settings,
            share=share,
            form=form,
            now=time.time(),
            width=width(),
            colour=coloured(no_color),
        )
    )
