"""The command line's look back: why something was suggested, how it turned out, and how to take it back."""

from __future__ import annotations

import time
from pathlib import Path

import click

from jpo.cli.arguments import config_of, new_id, settings
from jpo.cli.options import FILE, colour_option, options, toml_option, verbose_option
from jpo.cli.output import coloured, put, rendered, width, writable
from jpo.errors import UsageError


@click.command()
@click.argument("suggestion_id", required=False)
@click.option("-o", "--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@options(toml_option, colour_option, verbose_option)
def explain(suggestion_id: str | None, form: str, toml: Path | None, *, no_color: bool, verbose: bool) -> None:
    """Why these values? Retells a suggestion, by default the newest.

    Evidence, alternatives, limits, who decided, and what came of it.

    \b
    Examples:
      jpo explain
      jpo explain 20261121-060000-3fa9c1 -o markdown
    """
    from jpo.commands.explain import explain as command

    put(command(suggestion_id, settings(None, toml, {}), form=form, width=width(), colour=coloured(no_color)))


@click.command()
@click.option("-o", "--format", "form", type=click.Choice(["table", "json", "csv"]), default="table", show_default=True)
@click.option("--limit", type=click.IntRange(1), help="Only the newest so many.")
@click.option("--compare", is_flag=True, help="Time, cost, utilisation and loss before JPO's first change and after it.")
@click.option("--for", "given", type=FILE, metavar="CONFIG.INI", help="With --compare: this workload alone.")
@click.option("--plot", "picture", type=FILE, metavar="FILE", help="With --compare: the ratios as a picture, .png or .svg.")
@options(toml_option, colour_option, verbose_option)
def history(
    form: str,
    limit: int | None,
    given: Path | None,
    picture: Path | None,
    toml: Path | None,
    *,
    compare: bool,
    no_color: bool,
    verbose: bool,
) -> None:
    """Runs and suggestions on record, and how right the last forecasts were.

    \b
    Examples:
      jpo history
      jpo history --format json
      jpo history --compare --for config.ini --plot before-after.svg
    """
    if compare and limit:
        raise UsageError("--limit", "compares no runs", "leave out --limit or --compare", code="JPO-E853")
    if (given or picture) and not compare:
        raise UsageError("--for and --plot", "belong to --compare", "add --compare, or leave them out", code="JPO-E853")
    loaded, colour = settings(given, toml, {}), coloured(no_color)
    if compare:
        from jpo.commands.compare import before_after

        if picture:
            writable([picture], config_of(given, loaded), loaded)
        put(before_after(given, loaded, form=form, picture=picture, now=time.time(), width=width(), colour=colour))
    else:
        from jpo.commands.history import history as command

        put(command(loaded, form=form, limit=limit, width=width(), colour=colour))


@click.command()
@click.argument("before", required=False, metavar="[ID]")
@click.option("--for", "given", type=FILE, metavar="CONFIG.INI", help="The file to restore; default: config.ini.")
@click.option("--pin", "pin_days", type=click.IntRange(1, 3650), metavar="DAYS", help="Leave the restored values alone so long.")
@click.option("--unpin", is_flag=True, help="Restore nothing; what was pinned may be changed again.")
@click.option("--force", is_flag=True, help="Also where a value was changed since by someone else.")
@click.option("--dry-run", is_flag=True, help="Write nothing anywhere.")
@click.option("--diff", is_flag=True, help="Show the change as a unified diff too.")
@click.option("-o", "--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@options(toml_option, colour_option, verbose_option)
def rollback(
    before: str | None,
    given: Path | None,
    toml: Path | None,
    form: str,
    *,
    pin_days: int | None,
    unpin: bool,
    force: bool,
    dry_run: bool,
    diff: bool,
    no_color: bool,
    verbose: bool,
) -> None:
    """Put back the values from before a suggestion.

    That is suggestion ID, or the last change still in force.

    \b
    Examples:
      jpo rollback --dry-run --diff                    look first
      jpo rollback                                     called again: the change before that one
      jpo rollback 20261121-060000-3fa9c1 --pin 14     all since then is undone, and stays so for two weeks
    """
    from jpo.commands.rollback import Options
    from jpo.commands.rollback import rollback as command

    if unpin and (before or pin_days or force):
        raise UsageError("--unpin", "restores nothing", "leave out ID, --pin and --force", code="JPO-E845")
    loaded = settings(given, toml, {})
    now = time.time()
    wanted = Options(
        suggestion_id=new_id(now),
        now=now,
        before=before,
        pin_days=pin_days,
        unpin=unpin,
        force=force,
        dry_run=dry_run,
        diff=diff,
    )
    put(rendered(command(config_of(given, loaded), loaded, wanted), form, no_color))
