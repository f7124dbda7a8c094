"""The command line, continued: what keeps JPO in order. Commands are imported when called."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import settings
from jpo.cli.options import FILE, colour_option, config_ini, network_options, options, toml_option, verbose_option
from jpo.cli.output import coloured, for_people, put, track, width


@click.group()
def audit() -> None:
    """The append-only log of what JPO decided, wrote and learnt."""


@audit.command()
@click.option("-o", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--limit", type=click.IntRange(1), help="Only the newest so many.")
@options(toml_option, colour_option, verbose_option)
def show(form: str, limit: int | None, toml: Path | None, *, no_color: bool, verbose: bool) -> None:
    """Print the log, oldest first: what happened, to which workload, and who did it. `-o json` has all of it.

    \b
    Examples:
      jpo audit show --limit 20
      jpo audit show -o json | jq 'select(.kind == "refused")'
    """
    from jpo.commands.audit import show as command

    columns = width() if for_people() else None
    command(settings(None, toml, {}), form=form, limit=limit, width=columns, colour=coloured(no_color), tell=put)


@audit.command()
@click.option("--anchor", is_flag=True, help="Print the head alone, to be noted outside the store.")
@click.option("--head", metavar="ANCHOR", help="An anchor noted earlier: it must still be in the log.")
@options(toml_option, verbose_option)
def verify(head: str | None, toml: Path | None, *, anchor: bool, verbose: bool) -> None:
    """Verify the hash chain; names the first bad record (exit 5).

    The chain alone cannot tell that records are missing at its end, or that all of it was written anew. An anchor can:
    note it where the store's owner cannot change it, and hold the log against it later.

    \b
    Examples:
      jpo audit verify
      git commit --trailer "$(jpo audit verify --anchor)" config.ini
      git notes --ref=jpo append -m "$(jpo audit verify --anchor)"
      jpo audit verify --head "$(git log -1 --format='%(trailers:key=JPO-Audit-Head)')"
      jpo audit verify --head "$(git notes --ref=jpo show)"

    In a pipeline, `jpo audit verify --anchor` as its last step leaves the anchor in the pipeline's output.
    """
    from jpo.commands.audit import verify_log as command

    put(command(settings(None, toml, {}), head=head, anchor=anchor))


@audit.command()
@click.option("-o", "--format", "form", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True)
@click.option("--since", metavar="WHEN", help="Only what happened since, e.g. 2026-11-21, 2026-11-21T03:00Z or 90d.")
@options(toml_option, verbose_option)
def export(form: str, since: str | None, toml: Path | None, *, verbose: bool) -> None:
    """Print the log for other programs: JSON Lines of CloudEvents, or CSV.

    \b
    Examples:
      jpo audit export > audit.jsonl
      jpo audit export -o csv --since 90d > audit.csv
    """
    from jpo.commands.audit import export as command

    command(settings(None, toml, {}), form=form, since=since, now=time.time(), tell=put)


@click.group("config")
def settings_group() -> None:
    """Effective settings and their JSON Schema."""


@settings_group.command("check")
@options(toml_option, verbose_option)
def check_settings(toml: Path | None, *, verbose: bool) -> None:
    """Are jpo.toml and the environment valid?

    \b
    Example:
      jpo config check
    """
    from jpo.commands.config import check as command

    put(command(settings(None, toml, {})))


@settings_group.command("show")
@options(toml_option, verbose_option)
def show_settings(toml: Path | None, *, verbose: bool) -> None:
    """Every effective setting and where it comes from; secrets are hidden.

    \b
    Example:
      JPO_PROMETHEUS__TIMEOUT=30s jpo config show
    """
    from jpo.commands.config import show as command

    put(command(settings(None, toml, {})))


@settings_group.command("schema")
@click.option("--output", type=click.Choice(["settings", "suggestion"]), default="settings", show_default=True)
def schema(output: str) -> None:
    """JSON Schema of jpo.toml, or of `jpo suggest -o json`.

    \b
    Example:
      jpo config schema > jpo.schema.json
    """
    from jpo.commands.config import schema as command

    put(command(output))


@click.command()
@click.argument("given", nargs=-1, type=FILE, metavar="[FOLDER | FILE | PATTERN]...")
@click.option("-o", "--format", "form", type=click.Choice(["table", "json", "csv"]), default="table", show_default=True)
@click.option(
    "--extended", "file", type=FILE, metavar="FILE", help="Write all runs there as CSV, with suggestion, reward and SLA."
)
@options(toml_option, colour_option, verbose_option)
def logs(given: Sequence[Path], form: str, file: Path | None, toml: Path | None, *, no_color: bool, verbose: bool) -> None:
    """What many CSV logs say: how runs ended, what they took, which configurations did best. Logs and store are only read.

    \b
    Examples:
      jpo logs runs
      jpo logs "runs/2026-*.csv" old/ -o json
      jpo logs runs --extended runs-with-rewards.csv
    """
    from jpo.commands.logs import logs as command

    loaded, now, colour = settings(None, toml, {}), time.time(), coloured(no_color)
    put(command(given, loaded, form=form, file=file, now=now, track=track, width=width(), colour=colour))


@click.command()
@config_ini
@click.option("-o", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options(*network_options, toml_option, colour_option, verbose_option)
def doctor(
    given: Path | None,
    form: str,
    toml: Path | None,
    *,
    offline: bool,
    prometheus_url: str | None,
    timeout: str | None,
    since: str | None,
    no_color: bool,
    verbose: bool,
) -> int:
    """Is everything there that JPO needs? Looks at settings, CONFIG.INI, Prometheus, logs and store; writes nothing.

    Ends with 0 when there is no problem (warnings are none), else with what `jpo suggest --strict` would end with at the first
    one: 2 settings or CONFIG.INI, 3 limits, 4 Prometheus, 5 the store, 6 CONFIG.INI cannot be replaced.

    \b
    Examples:
      jpo doctor
      jpo doctor config.ini --offline
      jpo doctor -o json | jq '.checks[] | select(.status != "ok")'
    """
    from jpo.commands.doctor.checks import Case
    from jpo.commands.doctor.doctor import doctor as command

    flags = {"prometheus": {"url": prometheus_url, "timeout": timeout, "since": since}}
    case = Case(given, lambda: settings(given, toml, flags), os.environ, now=time.time(), offline=offline)
    text, code = command(case, form=form, width=width(), colour=coloured(no_color))
    put(text)
    return code


@click.group()
def state() -> None:
    """The store: copy it while it is in use, move it, forget what is too old."""


@state.command("export")
@click.argument("file", type=FILE, metavar="FILE|-")
@options(toml_option, verbose_option)
def export_state(file: Path, toml: Path | None, *, verbose: bool) -> None:
    """Write the whole store to FILE as JSON Lines, packed if it ends in .gz; a backup of one moment, while others go on.

    \b
    Examples:
      jpo state export backup.jsonl.gz
      jpo state export - | zstd > backup.jsonl.zst
    """
    from jpo.commands.state import export as command

    command(settings(None, toml, {}), file, tell=put)


@state.command("import")
@click.argument("file", type=FILE)
@options(toml_option, verbose_option)
def import_state(file: Path, toml: Path | None, *, verbose: bool) -> None:
    """Fill an empty store with an export: after a loss, or to move from SQLite to PostgreSQL and back.

    \b
    Example:
      JPO_STORE__URL=postgresql://jpo@db/jpo jpo state import backup.jsonl.gz
    """
    from jpo.commands.state import import_ as command

    put(command(settings(None, toml, {}), file))


@state.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be forgotten.")
@options(toml_option, verbose_option)
def gc(toml: Path | None, *, dry_run: bool, verbose: bool) -> None:
    """Forget how CPU, memory and GPUs of runs went that ended longer than [store] keep_series ago. The runs stay.

    \b
    Example:
      jpo state gc --dry-run
    """
    from jpo.commands.state import gc as command

    put(command(settings(None, toml, {}), dry_run=dry_run, now=time.time()))
