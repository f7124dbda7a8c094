"""`jpo predict`: its options and help."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings, seconds_until
from jpo.cli.options import FILE, options, output_options, seed_option
from jpo.cli.output import READABLE, Output, writable
from jpo.cli.subject import job_options
from jpo.errors import UsageError


@click.command()
@click.option("--set", "chosen", multiple=True, metavar="NAME=VALUE", help="Forecast with this value instead; may be repeated.")
@click.option("--vary", "varied", multiple=True, metavar="NAME=V,V,...", help="A row for each value, e.g. gpus=1,2,4,8.")
@click.option("--spot", is_flag=True, help="Also on spot prices.")
@click.option("--trials", type=FILE, multiple=True, metavar="LOG", help="CSV log of a small trial; may be repeated.")
@click.option("--fraction", type=float, help="Share of the data in trials whose log has no `# data_fraction=`; default: all.")
@click.option("--deadline", metavar="WHEN", help="Find the cheapest that is done by then: 6h, or 2026-11-22T06:00Z.")
@click.option("--max-cost", metavar="AMOUNT", help="Find the fastest that costs no more, in USD, or e.g. 20EUR.")
@output_options(*READABLE, files=True)
@options(seed_option, job_options)
def predict(
    given: Path | None,
    chosen: Sequence[str],
    varied: Sequence[str],
    trials: Sequence[Path],
    fraction: float | None,
    deadline: str | None,
    max_cost: str | None,
    output: Output,
    seed: int,
    toml: Path | None,
    *,
    spot: bool,
) -> int:
    """Forecast what configurations would take and cost.

    Duration, cost, memory, utilisation and loss with 90% intervals, and what they rest on. Nothing is put on record, and no
    server is asked. Exit code 3: nothing keeps to --deadline and --max-cost.

    \b
    Examples:
      jpo predict config.ini --vary gpus=1,2,4,8 --spot
      jpo predict config.ini --set gpus=4 --deadline 6h
      jpo predict config.ini --trials trial-1.csv --trials trial-2.csv --fraction 0.1
    """
    from jpo.cli.names import lists_given, values_given
    from jpo.commands.predict import predict as command
    from jpo.optimizer.question import Question
    from jpo.report import prediction

    settings = load_settings(given, toml, {})
    config = config_of(given, settings)
    writable(output.files, config, settings)
    if lost := set(map(os.path.realpath, output.files)) & set(map(os.path.realpath, trials)):
        raise UsageError(str(min(lost)), "is the log of a trial", "name another file", code="JPO-E307")
    now = time.time()
    asked = Question(
        chosen=values_given("--set", chosen, config, settings),
        varied=lists_given("--vary", varied, config, settings),
        spot=spot,
        trials=trials,
        fraction=fraction,
        deadline_seconds=None if deadline is None else seconds_until("--deadline", deadline, now),
        max_cost=max_cost,
    )
    answer = command(config, settings, asked, seed=seed, now=now)
    output.show(prediction, answer)
    return answer.exit_code
