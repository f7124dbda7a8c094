"""`jpo watch`: its options and help."""

import os
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.gate import answer, complain, for_people, progress_stream, put
from jpo.cli.options import FILE, Network, network_options, options, output_options, settings_options, writes_with
from jpo.cli.output import READABLE, Output, shown, width
from jpo.cli.subject import config_and_run
from jpo.errors import UsageError

if TYPE_CHECKING:
    from jpo.plugins.launch.report.watch.watched import WatchedRun


@click.command()
@config_and_run
@click.option("--csv", "log", type=FILE, metavar="FILE", help="CSV log of the run, which may not be there yet.")
@click.option("--once", is_flag=True, help="Print its state once, and end.")
@click.option("--every", type=float, metavar="EPOCHS", help="Epochs between two decisions; default: a 20th of all.")
@writes_with("--apply", "Carry decisions out: stop the run, release what it does not use.")
@click.option("--trial", is_flag=True, help="This run is a trial: nobody needs its model.")
@output_options(*READABLE)
@options(network_options, settings_options)
def watch(
    run: str | None,
    given: Path | None,
    log: Path | None,
    every: float | None,
    toml: Path | None,
    *,
    once: bool,
    apply: bool,
    trial: bool,
    network: Network,
    output: Output,
) -> None:
    """Follow a run as it goes on, or list the runs.

    RUN is one that was launched here, one that Prometheus knows, or the path of a CSV log. Says how far it is, when it
    ends, what it costs, how it compares, and what JPO would do about it: stop a run that cannot win any more, release what
    it does not use. It does so only with --apply.

    \b
    Examples:
      jpo watch
      jpo watch digits-20261121-020000-3fa9
      jpo watch --csv runs/2026-11-21.csv --once -o json
      jpo watch digits-20261121-020000-3fa9 --apply --every 2
    """
    from jpo.plugins.launch.report.watch import launched, watched
    from jpo.plugins.launch.story.watch import deciding, story

    if every is not None and not every > 0:
        raise UsageError("--every", f"{every:g} is not a number of epochs", "write e.g. --every 2", code="JPO-E305")
    if given is not None and given.suffix == ".csv" and log is None and run is None:
        given, log = None, given  # a log is what a single file may be as well
    if run is not None and log is not None:
        raise UsageError("--csv", "and RUN exclude each other", "name one of them", code="JPO-E306")
    if run is None and log is None and (apply or trial or every is not None):
        raise UsageError("--apply, --trial and --every", "are about one run", "name it, or leave them out", code="JPO-E306")
    settings = load_settings(given, toml, {"prometheus": network.flags})
    config = config_of(given, settings)
    if run is None and log is None:
        about = config if given or config.exists() else None
        output.show(launched, story.listed(about, settings, os.environ, now=time.time()))
        return
    wanted = deciding.WatchOptions(every, apply, trial)
    with story.watching(run, log, config, settings, wanted, os.environ) as found:
        if once:
            output.show(watched, story.once(found, now=time.time()))
        else:
            if found.log is not None and not found.log.exists():
                complain(f"{found.log}: no such file at present; waiting for it")
            show_all(story.follow(found, clock=time.time, sleep=time.sleep), output)


def show_all(states: "Iterator[WatchedRun]", output: Output) -> None:
    """Each state as it comes: a table that changes for people, a line per step for logs, JSON Lines for programs."""
    from jpo.plugins.launch.report.watch import watched
    from jpo.plugins.launch.report.watch.screen import live
    from jpo.plugins.launch.story.watch.story import is_step
    from jpo.report.forms import json

    last: WatchedRun | None = None
    with live(progress_stream()) if output.form == "text" and for_people() else nullcontext() as draw:
        for state in states:
            if draw:
                draw(shown(watched.document(state), "text", columns=width()))
            elif output.form == "json" and is_step(state, last):
                put(json.line(watched.as_json(state)))
            elif output.form == "text" and is_step(state, last):
                answer([watched.as_line(state)])
            last = state
    if last is not None and output.form != "json":
        output.show(watched, last)
