"""`jpo comment`: its options and help."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jpo.cli.arguments import load_settings, seconds_until
from jpo.cli.gate import answer, complain, put, save
from jpo.cli.options import FILE, settings_options
from jpo.cli.output import can_be_kept
from jpo.cli.subject import config_and_suggestion
from jpo.errors import JpoError

if TYPE_CHECKING:
    from jpo.project.load import LoadedSettings


@contextmanager
def no_failure_in_a_pipeline(settings: "LoadedSettings", what: str, *, strict: bool) -> Iterator[None]:
    """What goes wrong here ends no pipeline of GitLab or GitHub, where nobody is strict: it is only said."""
    try:
        yield
    except JpoError as error:
        if strict or settings.author["where"] not in ("gitlab", "github"):
            raise
        complain(f"{what}: {error} [{error.code}]")


@click.command()
@config_and_suggestion
@click.option("--from", "source", type=FILE, metavar="FILE", help="The suggestion of a suggestion.json instead of the store's.")
@click.option("--to", "number", type=click.IntRange(1), metavar="NUMBER", help="Merge request; default: the pipeline's own.")
@click.option("--link", metavar="URL", help="Where the report is; default: this job's page.")
@click.option("--dry-run", is_flag=True, help="Print the Markdown; ask no server.")
@click.option("--output-file", "files", type=FILE, multiple=True, help="Write the Markdown there too.")
@click.option("--strict", is_flag=True, help="Fail where the note cannot be written; else the pipeline continues.")
@click.option("--timeout", metavar="DURATION", default="30s", show_default=True, help="Deadline for all requests together.")
@settings_options
def comment(
    suggestion_id: str | None,
    given: Path | None,
    source: Path | None,
    number: int | None,
    link: str | None,
    toml: Path | None,
    files: Sequence[Path],
    timeout: str,
    *,
    dry_run: bool,
    strict: bool,
) -> None:
    """Show a suggestion as a note on the merge request.

    One note per workload, updated in place, by default about the newest suggestion (of CONFIG.INI). Merge request and server
    are what the pipeline of GitLab or GitHub says; the token is JPO_COMMENT_TOKEN (on GitHub also GITHUB_TOKEN).

    \b
    Examples:
      jpo comment --dry-run
      jpo comment --from jpo-report/suggestion.json
    """
    from jpo.plugins.ci.report import comment as report
    from jpo.plugins.ci.story import comment as command

    seconds = seconds_until("--timeout", timeout, 0.0)
    can_be_kept(files)
    settings = load_settings(given, toml, {})
    with no_failure_in_a_pipeline(settings, "no note", strict=strict or dry_run):
        note = command.comment(suggestion_id, source, settings, given, link=link or settings.author.get("url"))
        for file in files:
            save(file, report.body(note))
        if dry_run:
            put(report.body(note))
        else:
            answer(command.post(note, os.environ, number, timeout_seconds=seconds))
