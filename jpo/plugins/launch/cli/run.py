"""`jpo run`: its options and help."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import as_started, config_of, load_settings
from jpo.cli.gate import progress_stream
from jpo.cli.options import FILE, files, output_options, settings_options
from jpo.cli.output import Output
from jpo.cli.subject import config_first
from jpo.errors import UsageError
from jpo.plugins.launch.cli.engine import engine_option


@click.command()
@click.argument("words", nargs=-1, metavar="[CONFIG.INI] SCRIPT.py | -- COMMAND...", shell_complete=files)
@engine_option
@click.option("--run-id", metavar="ID", help="Id of the run; an id is never started twice. Default: model and time.")
@click.option("--timeout", metavar="DURATION", help="End it after this long, e.g. 6h; default: [launch] timeout.")
@click.option("--follow", is_flag=True, help="Show on stderr what it prints, as it is printed.")
@click.option("--detach", is_flag=True, help="Start it and return; jpo watch or the next jpo run records it.")
@click.option("--dry-run", is_flag=True, help="Show what would be started; nothing is started or written.")
@click.option("--skypilot", type=FILE, metavar="FILE", help="Write a task of SkyPilot; start nothing.")
@output_options("text", "json")
@settings_options
def run(
    words: Sequence[str],
    on: str | None,
    run_id: str | None,
    timeout: str | None,
    skypilot: Path | None,
    output: Output,
    toml: Path | None,
    *,
    follow: bool,
    detach: bool,
    dry_run: bool,
) -> None:
    """Start a run, follow it, and put it on record.

    A script gets the values of config.ini where it reads them: it is analysed, never imported. A command line is started word
    by word, without a shell; its environment has JPO_BATCH_SIZE and the like. Exit code 7: the run failed.

    \b
    Examples:
      jpo run train.py
      jpo run config.ini train.py -- --fraction 0.1   the script's own
      jpo run -- torchrun --nproc-per-node 2 train.py
      jpo run train.py --on slurm --timeout 6h --follow
      jpo run train.py --detach
    """
    from jpo.cli.arguments import duration
    from jpo.plugins.launch.report.launched import run as subject
    from jpo.plugins.launch.story.run import RunOptions, Surface
    from jpo.plugins.launch.story.run import run as command
    from jpo.report.progress_bar import live

    if follow and detach:
        raise UsageError(
            "--follow", "shows a run to its end, and --detach returns before", "leave one of them out", code="JPO-E308"
        )
    given, typed = config_first(words, 0)
    settings = load_settings(given, toml, {})
    longest = None if timeout is None else duration("--timeout", timeout)
    wanted = RunOptions(time.time(), on, run_id, longest, detach, dry_run, follow, skypilot)
    with live(progress_stream(), for_people=progress_stream().isatty()) as shown:
        here = Surface(Path.cwd(), as_started(os.environ), time.time, time.sleep, shown)
        report = command(config_of(given, settings), settings, typed, wanted, here)
    output.show(subject, report, on_record=report.run is not None)
    if report.failure is not None:
        raise report.failure
