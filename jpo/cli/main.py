"""The command line: names, options, help. Commands are imported when called; results go to stdout, all else to stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import as_number, config_of, new_id, pairs, promised, settings
from jpo.cli.experiments import replay, simulate
from jpo.cli.hindsight import explain, history, rollback
from jpo.cli.options import FILE, colour_option, config_ini, network_options, options, seed_option, toml_option, verbose_option
from jpo.cli.output import FORMS, put, rendered, save, track, writable
from jpo.cli.planning import pareto, predict, prices, sla
from jpo.cli.upkeep import audit, doctor, logs, settings_group, state
from jpo.errors import UsageError
from jpo.version import __version__

WOULD_CHANGE = 10
STATUSES = ["succeeded", "failed", "oom_killed", "diverged", "stopped"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="jpo")
def cli() -> None:
    """Suggest the next parameters of a recurring training job from what its earlier runs cost.

    \b
    Start with:  jpo suggest config.ini --dry-run
    """


@cli.command()
@config_ini
@click.option("--dry-run", is_flag=True, help="Write nothing anywhere.")
@click.option("--check", is_flag=True, help="Write nothing; exit with 10 if a change is proposed.")
@click.option("--diff", is_flag=True, help="Show the change as a unified diff too.")
@click.option(
    "--set",
    "chosen",
    multiple=True,
    metavar="NAME=VALUE",
    help="Take this value instead of the agent's; the guard still decides.",
)
@click.option(
    "--prefer", metavar="PREFERENCE", help="time, cost, efficiency, balanced, one of [preferences], or e.g. time=0.3,cost=0.7."
)
@click.option("--deadline", metavar="WHEN", help="Done by then, instead of [sla] time_max: 6h, or 2026-11-22T06:00Z.")
@click.option("--max-cost", metavar="AMOUNT", help="Instead of [sla] cost_max: in USD, or e.g. 20EUR.")
@click.option("--explore", type=click.Choice(["off", "safe", "on"]), help="How bold to be; default: safe.")
@click.option("--no-learn", is_flag=True, help="Do not update the agent first.")
@seed_option
@click.option("--strict", is_flag=True, help="Fail (exit 4) if a source of runs cannot be read completely.")
@click.option("-o", "--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@click.option("--output-file", "files", type=FILE, multiple=True, help="Write it there too; .json and .md choose their form.")
@options(*network_options, toml_option, colour_option, verbose_option)
def suggest(
    given: Path | None,
    toml: Path | None,
    chosen: Sequence[str],
    form: str,
    files: Sequence[Path],
    *,
    dry_run: bool,
    check: bool,
    diff: bool,
    prefer: str | None,
    deadline: str | None,
    max_cost: str | None,
    explore: str | None,
    no_learn: bool,
    seed: int,
    strict: bool,
    offline: bool,
    prometheus_url: str | None,
    timeout: str | None,
    since: str | None,
    no_color: bool,
    verbose: bool,
) -> int:
    """Write better values into CONFIG.INI, from evidence, checked and on record.

    \b
    Examples:
      jpo suggest config.ini --dry-run                 look first
      jpo suggest config.ini --output-file suggestion.json --output-file summary.md
      jpo suggest config.ini --prefer cost --explore off
      jpo suggest config.ini --deadline 6h --max-cost 20
      jpo suggest config.ini --set batch_size=128      your value, still guarded and on record
    """
    from jpo.commands.suggest import Options
    from jpo.commands.suggest import suggest as command

    now = time.time()
    prometheus = {"url": prometheus_url, "timeout": timeout, "since": since}
    flags = {"prometheus": prometheus, "agent": {"explore": explore}, "preference": prefer}
    loaded = settings(given, toml, flags)
    lasting = loaded.settings.sla.targets
    if deadline is not None or max_cost is not None:
        loaded = settings(given, toml, {**flags, "sla": promised(deadline, max_cost, loaded, now)})
    config = config_of(given, loaded)
    writable(files, config, loaded)
    wanted = Options(
        suggestion_id=new_id(now),
        now=now,
        dry_run=dry_run or check,
        diff=diff,
        offline=offline,
        strict=strict,
        learn=not no_learn,
        seed=seed,
        chosen={name: as_number(name, text) for name, text in pairs("--set", chosen).items()},
        lasting=lasting,
    )
    report = command(config, loaded, wanted)
    for file in files:
        text = rendered(report, FORMS.get(file.suffix, form), no_color=True)
        save(file, text, remedy="what was done is on record: see `jpo explain`")
    put(rendered(report, form, no_color))
    return WOULD_CHANGE if check and report.suggestion.status == "changed" else 0


@cli.command()
@click.argument("run", required=False)
@click.option("--csv", "logs", type=FILE, multiple=True, metavar="FILE", help="CSV log of a finished run; may be repeated.")
@click.option("--follow", is_flag=True, help="Wait until the run of the one --csv FILE is over, showing how it goes.")
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME=VALUE", help="Outcome of RUN, e.g. val_loss=0.4; may be repeated."
)
@click.option("--status", type=click.Choice(STATUSES), default="succeeded", show_default=True, help="How RUN ended.")
@click.option("--for", "given", type=FILE, metavar="CONFIG.INI", help="The file that the run used; default: config.ini.")
@options(*network_options, toml_option, verbose_option)
def observe(
    run: str | None,
    logs: Sequence[Path],
    metrics: Sequence[str],
    status: str,
    given: Path | None,
    toml: Path | None,
    *,
    follow: bool,
    offline: bool,
    prometheus_url: str | None,
    timeout: str | None,
    since: str | None,
    verbose: bool,
) -> None:
    """Put the outcome of finished runs on record; without arguments, ask the configured sources.

    \b
    Examples:
      jpo observe --csv runs/2026-11-21.csv
      jpo observe --csv runs/2026-11-21.csv --follow   while it is still training
      jpo observe run-17 --metric duration_seconds=5400 --metric val_loss=0.4
      jpo observe --prometheus-url http://prometheus:9090
    """
    from jpo.commands import observe as command
    from jpo.records import RunStatus
    from jpo.report.progress import live

    loaded = settings(given, toml, {"prometheus": {"url": prometheus_url, "timeout": timeout, "since": since}})
    if follow:
        log = command.log_to_follow(logs, alone=run is None and not metrics)
        with live(sys.stderr, for_people=sys.stderr.isatty()) as shown:
            told = command.follow(log, loaded, clock=time.time, sleep=time.sleep, live=shown)
        put(told)
        return
    outcome, now = pairs("--metric", metrics), time.time()
    config, ended = config_of(given, loaded), RunStatus(status)
    put(command.observe(config, loaded, run_id=run, logs=logs, metrics=outcome, status=ended, now=now, offline=offline))


@cli.command()
@config_ini
@click.option("--rebuild", is_flag=True, help="Forget what was learnt and learn the whole history anew.")
@click.option("--budget", metavar="DURATION", default="30s", show_default=True, help="How long to learn at most.")
@click.option("--pretrain", type=FILE, metavar="FILE", help="Train a new policy in the simulator and write it to FILE.")
@click.option("--jobs", type=click.IntRange(10), help="With --pretrain: simulated jobs per agent; default: as shipped.")
@seed_option
@options(toml_option, verbose_option)
def learn(
    given: Path | None,
    toml: Path | None,
    *,
    rebuild: bool,
    budget: str,
    pretrain: Path | None,
    jobs: int | None,
    seed: int,
    verbose: bool,
) -> None:
    """Update the agent from the history (needs jpo[learn]).

    \b
    Examples:
      jpo learn config.ini
      jpo learn config.ini --rebuild --budget 2m
      jpo learn --pretrain policy.safetensors
    """
    from jpo.commands import learn as command

    if pretrain and (given or rebuild or toml):
        finding = "learns in the simulator alone"
        raise UsageError("--pretrain", finding, "leave out config.ini, --rebuild and --config", code="JPO-E308")
    if jobs and not pretrain:
        raise UsageError("--jobs", "says how long to practise for --pretrain", "name a FILE, or leave it out", code="JPO-E308")
    if pretrain:
        put(command.pretrain(pretrain, jobs=jobs, seed=seed, track=track))
    else:
        loaded = settings(given, toml, {"agent": {"learn_budget": budget}})
        put(command.learn(config_of(given, loaded), loaded, rebuild=rebuild, seed=seed, now=time.time(), track=track))


@cli.command()
@config_ini
@options(toml_option, verbose_option)
def check(given: Path | None, toml: Path | None, *, verbose: bool) -> None:
    """Is CONFIG.INI valid, identified and within limits?

    \b
    Example:
      jpo check config.ini
    """
    from jpo.commands.check import check as command

    loaded = settings(given, toml, {})
    put(command(config_of(given, loaded), loaded, now=time.time()))


LOOKING_BACK, LOOKING_AHEAD, UPKEEP = (explain, history, rollback), (predict, pareto, prices, sla), (logs, audit, state, doctor)
for command in (*LOOKING_BACK, *LOOKING_AHEAD, *UPKEEP, settings_group, replay, simulate):
    cli.add_command(command)
