"""`jpo history`: its options and help."""

import time
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.gate import complain
from jpo.cli.options import FILE, output_options
from jpo.cli.output import Output, writable
from jpo.cli.subject import job_options, named_once
from jpo.errors import UsageError


@click.command()
@output_options("table", "text", "json", "csv", "markdown", "html")
@click.option("--limit", type=click.IntRange(1), help="The newest N; without it a terminal shows ten lines of each list.")
@click.option("--compare", is_flag=True, help="Time, cost, utilisation and loss before JPO's first change and after it.")
@click.option("--for", "by_option", type=FILE, metavar="CONFIG.INI", help="With --compare: the same as CONFIG.INI.")
@click.option("--plot", "picture", type=FILE, metavar="FILE", help="With --compare: the ratios as a picture, .png or .svg.")
@job_options
def history(
    output: Output,
    limit: int | None,
    given: Path | None,
    by_option: Path | None,
    picture: Path | None,
    toml: Path | None,
    *,
    compare: bool,
) -> None:
    """Show runs, suggestions, and how right forecasts were.

    Of all workloads on record, or of CONFIG.INI's.

    \b
    Examples:
      jpo history
      jpo history --format json
      jpo history config.ini --compare --plot before-after.svg
    """
    if compare and limit:
        raise UsageError("--limit", "compares no runs", "leave out --limit or --compare", code="JPO-E853")
    if (by_option or picture) and not compare:
        raise UsageError("--for and --plot", "belong to --compare", "add --compare, or leave them out", code="JPO-E853")
    given = named_once(given, by_option)
    settings = load_settings(given, toml, {})
    if compare:
        from jpo.commands.compare import compare as compare_workloads
        from jpo.report import before_after

        if picture:
            writable([picture], config_of(given, settings), settings)
        output.show(before_after, compare_workloads(given, settings, picture=picture, now=time.time()))
    else:
        from jpo.commands.history import history as command
        from jpo.report import history as subject

        past = command(settings, given, limit=limit, all_rows=output.form in ("json", "csv"))
        if past.newest and output.form in ("json", "csv"):
            complain(f"only the newest {past.newest:,} runs and suggestions: --limit N has N")
        output.show(subject, past)
