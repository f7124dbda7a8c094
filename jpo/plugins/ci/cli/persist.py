"""`jpo persist`: its options and help."""

import os
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings, seconds_until
from jpo.cli.gate import answer, put
from jpo.cli.options import FILE, settings_options
from jpo.cli.subject import config_ini
from jpo.files.links import within_project
from jpo.plugins.ci.cli.comment import no_failure_in_a_pipeline


@click.command()
@config_ini
@click.option("--from", "source", type=FILE, metavar="FILE", help="The suggestion of a suggestion.json instead of the store's.")
@click.option("--link", metavar="URL", help="Where the report is; default: this job's page.")
@click.option("--dry-run", is_flag=True, help="Print branch, title and text; ask no server.")
@click.option("--strict", is_flag=True, help="Fail where nothing can be proposed; else the pipeline continues.")
@click.option("--timeout", metavar="DURATION", default="60s", show_default=True, help="Deadline for all requests together.")
@settings_options
def persist(
    given: Path | None, source: Path | None, link: str | None, toml: Path | None, timeout: str, *, dry_run: bool, strict: bool
) -> None:
    """Propose the values in force as a merge request.

    One branch and one merge request (GitHub: pull request) per workload to the default branch, kept up to date with CONFIG.INI as
    it is here, and closed when nothing is left to propose. Commits of somebody else on the branch are left alone; values whose
    merge request was closed are not proposed again. The token is JPO_PERSIST_TOKEN (on GitHub also GITHUB_TOKEN).

    \b
    Examples:
      jpo persist --dry-run
      jpo persist config.ini --from jpo-report/suggestion.json
    """
    from jpo.plugins.ci.report import proposal
    from jpo.plugins.ci.story import persist as command
    from jpo.plugins.ci.story.comment import comment

    seconds = seconds_until("--timeout", timeout, 0.0)
    settings = load_settings(given, toml, {})
    config = config_of(given, settings)
    with no_failure_in_a_pipeline(settings, "nothing was proposed", strict=strict or dry_run):
        note = comment(None, source, settings, given, link=link or settings.author.get("url"))
        if dry_run:
            made, file = note.report.suggestion, within_project(config)
            put(f"{proposal.branch(made, file)}\n{proposal.title(made, file)}\n\n{proposal.text(note)}")
        else:
            answer(command.propose(note, config, settings, os.environ, timeout_seconds=seconds))
