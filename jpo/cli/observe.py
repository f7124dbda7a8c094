"""`jpo observe`: its options and help."""

import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings, pairs
from jpo.cli.gate import answer, progress_stream
from jpo.cli.options import FILE, Network, network_options, options, settings_options
from jpo.cli.subject import config_and_run, for_option
from jpo.errors import UsageError

STATUSES = ["succeeded", "failed", "oom_killed", "diverged", "stopped"]


@click.command()
@config_and_run
@click.option("--csv", "logs", type=FILE, multiple=True, metavar="FILE", help="CSV log of a finished run; may be repeated.")
@click.option("--follow", is_flag=True, help="Wait until the run of the one --csv FILE is over, and show its progress.")
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME=VALUE", help="Outcome of RUN, e.g. val_accuracy=0.93; may be repeated."
)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="Value that RUN used where config.ini differs; may be repeated.",
)
@click.option("--status", type=click.Choice(STATUSES), help="How RUN ended; with --metric, by default: succeeded.")
@for_option
@click.option("--dry-run", is_flag=True, help="Only say what would be recorded.")
@click.option("--again", metavar="DURATION", help="Look for runs that are not on record this far back, e.g. 30d.")
@options(network_options, settings_options)
def observe(
    run: str | None,
    logs: Sequence[Path],
    metrics: Sequence[str],
    params: Sequence[str],
    status: str | None,
    given: Path | None,
    again: str | None,
    toml: Path | None,
    *,
    follow: bool,
    dry_run: bool,
    network: Network,
) -> None:
    """Put finished runs on record.

    Without arguments, all configured sources are asked.

    \b
    Examples:
      jpo observe --csv runs/2026-11-21.csv
      jpo observe --csv runs/2026-11-21.csv --follow   while it is still training
      jpo observe run-17 --metric duration_seconds=5400 --metric val_loss=0.4
      jpo observe run-18 --param optimizer=adam --metric duration_seconds=4800
      jpo observe --prometheus-url http://prometheus:9090
      jpo observe --again 30d                          what came late, or was looked for in vain
    """
    from jpo.cli.names import values_given
    from jpo.commands import observe as command
    from jpo.records import RunStatus
    from jpo.report.progress_bar import live

    settings = load_settings(given, toml, {"prometheus": network.flags})
    by_hand = run is not None or bool(metrics or params) or status is not None
    if follow:
        if len(logs) != 1 or by_hand or dry_run or again is not None:
            finding = "needs exactly one --csv FILE, no RUN and no --dry-run"
            raise UsageError("--follow", finding, "follow one log at a time", code="JPO-E131")
        with live(progress_stream(), for_people=progress_stream().isatty()) as shown:
            told = command.follow(logs[0], settings, clock=time.time, sleep=time.sleep, live=shown)
        answer(told)
        return
    config, now = config_of(given, settings), time.time()
    ran, outcome = values_given("--param", params, config, settings), pairs("--metric", metrics)
    alone = not (logs or by_hand)
    back = None if again is None else command.seconds_back(again, offline=network.offline, alone=alone)
    if logs and by_hand:
        finding = "and a run given by hand exclude each other"
        raise UsageError("--csv", finding, "observe them one after the other", code="JPO-E306")
    if alone:
        answer(command.ask_sources(config, settings, now=now, offline=network.offline, again_seconds=back, dry_run=dry_run))
    elif logs:
        answer(command.take_logs(logs, settings, now=now, dry_run=dry_run))
    else:
        ended = RunStatus(status) if status else None
        answer(command.take_run(config, settings, command.ByHand(run, outcome, ended, ran), now=now, dry_run=dry_run))
