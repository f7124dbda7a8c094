"""`jpo audit`: its options and help."""

import time
from pathlib import Path

import click

from jpo.cli.arguments import settings_beside
from jpo.cli.gate import answer, put, stream
from jpo.cli.options import output_options
from jpo.cli.output import READABLE, Output, shown, width
from jpo.cli.subject import job_options


@click.group()
def audit() -> None:
    """Read, verify or export the append-only audit log."""


@audit.command()
@output_options(*READABLE)
@click.option("--limit", type=click.IntRange(1), help="Newest N only.")
@job_options
def show(given: Path | None, output: Output, limit: int | None, toml: Path | None) -> None:
    """Print the log, oldest first; `-o json` has all of it.

    What happened, to which workload, and who did it.

    \b
    Examples:
      jpo audit show --limit 20
      jpo audit show -o json | jq 'select(.kind == "refused")'
    """
    from jpo.commands.audit import audit_log, page
    from jpo.report import audit as subject

    settings = settings_beside(given, toml)
    if output.form in ("markdown", "html"):
        put(shown(subject.document(page(settings, limit=limit)), output.form))
        return
    with audit_log(settings, limit=limit) as records:
        if output.form == "json":
            stream(map(subject.json_line, records))
        else:
            stream(subject.text_line(record, width(), colour=output.colour) for record in records)


@audit.command()
@click.option("--anchor", is_flag=True, help="Print only the head, to be noted outside the store.")
@click.option("--head", metavar="ANCHOR", help="An anchor noted earlier: it must still be in the log.")
@job_options
def verify(given: Path | None, head: str | None, toml: Path | None, *, anchor: bool) -> None:
    """Verify the hash chain; a bad record: exit 5.

    The first bad record is named. The chain alone cannot show that records are missing at its end, or that all of it was
    written anew. An anchor can: note it where the store's owner cannot change it, and hold the log against it later.

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

    answer(command(settings_beside(given, toml), head=head, anchor=anchor))


@audit.command()
@click.option("-o", "--format", "form", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True)
@click.option("--since", metavar="WHEN", help="Only what happened since, e.g. 2026-11-21, 2026-11-21T03:00Z or 90d.")
@job_options
def export(given: Path | None, form: str, since: str | None, toml: Path | None) -> None:
    """Print the log as JSON Lines of CloudEvents, or CSV.

    \b
    Examples:
      jpo audit export > audit.jsonl
      jpo audit export -o csv --since 90d > audit.csv
    """
    from jpo.commands.audit import audit_log, since_when, source_of
    from jpo.report import audit as subject

    settings = settings_beside(given, toml)
    start = None if since is None else since_when(since, time.time())
    with audit_log(settings, start=start) as records:
        stream(subject.csv_lines(records) if form == "csv" else subject.events(records, source_of(settings)))
