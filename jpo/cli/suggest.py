"""`jpo suggest`: its options and help."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import as_number, config_of, load_settings, new_id, pairs, targets_for_once
from jpo.cli.options import (
    FILE,
    Network,
    colour_option,
    config_ini,
    network_options,
    options,
    seed_option,
    toml_option,
    verbose_option,
)
from jpo.cli.output import FORMS, put, report_text, save, writable

WOULD_CHANGE = 10


@click.command()
@config_ini
@click.option("--dry-run", is_flag=True, help="Write nothing anywhere.")
@click.option("--check", is_flag=True, help="Write nothing; exit with 10 if a change is proposed.")
@click.option("--diff", is_flag=True, help="Show the change as a unified diff too.")
@click.option(
    "--set",
    "chosen",
    multiple=True,
    metavar="NAME=VALUE",
    help="Take this value instead of the agent's; the guard still decides.",
)
@click.option(
    "--prefer", metavar="PREFERENCE", help="time, cost, efficiency, balanced, one of [preferences], or e.g. time=0.3,cost=0.7."
)
@click.option("--deadline", metavar="WHEN", help="Done by then, instead of [sla] time_max: 6h, or 2026-11-22T06:00Z.")
@click.option("--max-cost", metavar="AMOUNT", help="Instead of [sla] cost_max: in USD, or e.g. 20EUR.")
@click.option("--explore", type=click.Choice(["off", "safe", "on"]), help="How bold to be; default: safe.")
@click.option("--no-learn", is_flag=True, help="Do not update the agent first.")
@seed_option
@click.option("--strict", is_flag=True, help="Fail (exit 4) if a source of runs cannot be read completely.")
@click.option("-o", "--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@click.option("--output-file", "files", type=FILE, multiple=True, help="Write it there too; .json and .md choose their form.")
@options(network_options, toml_option, colour_option, verbose_option)
def suggest(
    given: Path | None,
    toml: Path | None,
    chosen: Sequence[str],
    form: str,
    files: Sequence[Path],
    *,
    dry_run: bool,
    check: bool,
    diff: bool,
    prefer: str | None,
    deadline: str | None,
    max_cost: str | None,
    explore: str | None,
    no_learn: bool,
    seed: int,
    strict: bool,
    network: Network,
    no_color: bool,
) -> int:
    """Write better values into CONFIG.INI, from evidence, checked and on record.

    \b
    Examples:
      jpo suggest config.ini --dry-run                 look first
      jpo suggest config.ini --output-file suggestion.json --output-file summary.md
      jpo suggest config.ini --prefer cost --explore off
      jpo suggest config.ini --deadline 6h --max-cost 20
      jpo suggest config.ini --set batch_size=128      your value, still guarded and on record
    """
    from jpo.commands.suggest import Options
    from jpo.commands.suggest import suggest as command

    now = time.time()
    prometheus = network.flags
    flags = {"prometheus": prometheus, "agent": {"explore": explore}, "preference": prefer}
    settings = load_settings(given, toml, flags)
    once = None
    if deadline is not None or max_cost is not None:
        once = load_settings(
            given, toml, {**flags, "sla": targets_for_once(deadline, max_cost, settings, now)}
        ).values.sla.targets
    config = config_of(given, settings)
    writable(files, config, settings)
    wanted = Options(
        suggestion_id=new_id(now),
        now=now,
        dry_run=dry_run or check,
        diff=diff,
        offline=network.offline,
        strict=strict,
        learn=not no_learn,
        seed=seed,
        chosen={name: as_number(name, text) for name, text in pairs("--set", chosen).items()},
        targets=once,
    )
    report = command(config, settings, wanted)
    for file in files:
        text = report_text(report, FORMS.get(file.suffix, form), no_color=True)
        save(file, text, remedy="what was done is on record: see `jpo explain`")
    put(report_text(report, form, no_color))
    return WOULD_CHANGE if check and report.suggestion.status == "changed" else 0
