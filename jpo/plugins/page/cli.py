"""`jpo report`: its options and help."""

import time
from dataclasses import replace
from pathlib import Path

import click

from jpo.cli.arguments import load_settings
from jpo.cli.gate import save, save_together
from jpo.cli.options import FILE, output_options, settings_options
from jpo.cli.output import Output, shown, writable
from jpo.cli.subject import config_ini

NAMES = ("allocation_history.csv", "reward_components.csv", "sla_metrics.csv", "pareto_front.csv", "performance_metrics.csv")
"""The files of --csv, as report/tables.py makes them."""
MOST_ROWS, MOST_IN_PAGE = 20, 1000
"""Rows of a table in a terminal or a job summary, and in the page, which turns them over."""


@click.command()
@config_ini
@click.option("--html", "page", type=FILE, metavar="FILE", help="All of it as one page that needs nothing else.")
@click.option("--csv", "folder", type=FILE, metavar="DIR", help="Its figures as CSV files in this folder.")
@output_options("text", "json", "markdown")
@settings_options
def report(given: Path | None, page: Path | None, folder: Path | None, output: Output, toml: Path | None) -> None:
    """Show what JPO did, and what came of it.

    Hours and money saved, suggestions with who decided, forecasts against what came, the trade-off, SLA, learning, and whether
    the audit log is intact. Of all workloads on record, or of CONFIG.INI's alone. A broken audit log: exit code 5, after the
    report has been written.

    \b
    Examples:
      jpo report
      jpo report --html report.html
      jpo report config.ini -o markdown >> "$GITHUB_STEP_SUMMARY"
      jpo report --csv figures/
    """
    from jpo.commands.compare import change_of
    from jpo.commands.history import read
    from jpo.plugins.page import report as subject
    from jpo.plugins.page.report.sections import MOST_WORKLOADS as MOST_SECTIONS
    from jpo.plugins.page.report.tables import files
    from jpo.plugins.page.story import refuse_broken
    from jpo.plugins.page.story import report as command

    settings = load_settings(given, toml, {})
    tables = [folder / name for name in NAMES] if folder and folder.is_dir() else [folder]
    writable([file for file in (page, *tables) if file], given or settings.config_ini, settings)
    review = command(given, settings, read, change_of, now=time.time())
    if folder:
        save_together(folder, files(review))
    if page:
        save(page, shown(subject.document(replace(review, newest=MOST_IN_PAGE)), "html"))
    output.show(subject, review if output.form == "json" else replace(review, newest=MOST_ROWS, sections=MOST_SECTIONS))
    refuse_broken(review)
