"""`jpo optimize`: its options and help."""

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jpo.cli.arguments import as_started, settings_for_once
from jpo.cli.gate import progress_stream
from jpo.cli.options import FILE, Network, files, network_options, options, output_options, seed_option, settings_options
from jpo.cli.output import Output, writable
from jpo.cli.subject import ENDINGS, config_file
from jpo.errors import UsageError
from jpo.plugins.launch.cli.engine import engine_option

if TYPE_CHECKING:
    from jpo.plugins.launch.story.optimize.task import Task
    from jpo.records import Suggestion


MOST_RUNS = 10


@click.command()
@click.argument("words", nargs=-1, metavar="[CONFIG.INI]... [-- COMMAND...]", shell_complete=files)
@click.option("--runs", type=click.IntRange(0, 1000), help="Runs with suggested values; default: 10, or until nothing changes.")
@click.option("--baseline", type=click.IntRange(0, 100), default=3, show_default=True, help="Runs with today's values before.")
@engine_option
@click.option("--at-once", type=click.IntRange(1, 100), help="Jobs at the same time; default: 1 on this machine, else all.")
@click.option("--name", metavar="NAME", help="Prefix of the run ids; default: made from the job and its file.")
@click.option("--logs", multiple=True, metavar="GLOB", help="CSV logs of earlier runs to start from; may be repeated.")
@click.option("--data-path", type=FILE, metavar="PATH", help="Data set, handed to every run as JPO_DATA_PATH.")
@click.option("--prefer", metavar="PREFERENCE", help="time, cost, efficiency, balanced, one of [preferences], or weights.")
@click.option("--deadline", metavar="WHEN", help="Deadline of each run, instead of [sla] time_max: 6h, or 2026-11-22T06:00Z.")
@click.option("--max-cost", metavar="AMOUNT", help="Cost limit of each run, instead of [sla] cost_max: in USD, or e.g. 20EUR.")
@click.option("--explore", type=click.Choice(["off", "safe", "on"]), help="How much to explore; default: [agent] explore or on.")
@click.option("--search", is_flag=True, help="Search for the best model; the cost of the runs does not count.")
@click.option("--no-learn", is_flag=True, help="Do not update the agent between the runs.")
@click.option("--dry-run", is_flag=True, help="Print the plan: runs, engine, first command, limits; start nothing.")
@click.option("--plot", "picture", type=FILE, metavar="FILE", help="Time of every run as a picture, .png or .svg.")
@seed_option
@output_options("text", "json", "markdown", "html", "csv", files=True)
@options(network_options, settings_options)
def optimize(
    words: Sequence[str],
    toml: Path | None,
    *,
    runs: int | None,
    baseline: int,
    on: str | None,
    at_once: int | None,
    name: str | None,
    logs: Sequence[str],
    data_path: Path | None,
    prefer: str | None,
    deadline: str | None,
    max_cost: str | None,
    explore: str | None,
    search: bool,
    no_learn: bool,
    dry_run: bool,
    picture: Path | None,
    seed: int,
    network: Network,
    output: Output,
) -> None:
    """Run jobs again and again, each time with better values.

    For every CONFIG.INI: baseline runs with the values it has, then suggest, run, record. A run tries values out where that
    pays for itself in those that follow, else it has the best that are known, and so has CONFIG.INI in the end. A trial is
    stopped as soon as it cannot win ([launch] stop_at), any other run never. Interrupted or killed, the same command goes on.

    \b
    Examples:
      jpo optimize config.ini -- python train.py config.ini
      jpo optimize config.ini --runs 20 --on slurm      [launch] command of jpo.toml is run
      jpo optimize a/config.ini b/config.ini --at-once 2 --max-cost 20
      jpo optimize config.ini --baseline 0 --logs 'old/*.csv' --plot runs.svg -o json
    """
    from jpo.commands import suggest as suggesting
    from jpo.commands.compare import compared
    from jpo.commands.learn import learn_after_suggestion
    from jpo.plugins.launch.project.engines import engine_named, launcher_of
    from jpo.plugins.launch.report.optimize import preview as of_plan
    from jpo.plugins.launch.report.optimize import result as report
    from jpo.plugins.launch.story.optimize.optimize import optimize as command
    from jpo.plugins.launch.story.optimize.preview import preview
    from jpo.plugins.launch.story.optimize.task import LoopPlan, Outside, task_of
    from jpo.plugins.launch.story.watch.story import trial
    from jpo.report.progress_bar import live

    if dry_run and (picture or output.form == "csv"):
        raise UsageError("--plot and -o csv", "show runs, and --dry-run makes none", "leave one of them out", code="JPO-E308")
    now = time.time()
    paths, command_line = configs_and_command(words)
    tasks, lasting = [], {}
    boldness = {"explore": explore, "goal": "search" if search else None}
    flags = {"prometheus": network.flags, "agent": boldness, "preference": prefer}
    for path in paths or (None,):
        settings, lasting_settings = settings_for_once(path, toml, flags, deadline, max_cost, now=now)
        config = path or settings.config_ini
        task = task_of(config, settings, engine_named(settings, on), name=name, now=now)
        writable([*output.files, *([picture] if picture else [])], config, settings)
        tasks.append(task)
        lasting[task.name] = lasting_settings
    here = all(task.engine == "local" for task in tasks)
    data = {} if data_path is None else {"JPO_DATA_PATH": str(data_path.absolute() if data_path.exists() else data_path)}
    plan = LoopPlan(
        MOST_RUNS if runs is None else runs,
        *(baseline, command_line, tuple(logs), data, at_once or (1 if here else len(tasks))),
        all_wanted=runs is not None,
    )

    def suggest(task: "Task", suggestion_id: str, moment: float) -> "Suggestion":
        wanted = suggesting.SuggestOptions(
            suggestion_id=suggestion_id,
            now=moment,
            offline=network.offline,
            learn=not no_learn,
            seed=seed,
            done_by=deadline is not None,
        )
        suggestion = suggesting.suggest(task.path, task.settings, wanted).suggestion
        if not no_learn and (why_not := learn_after_suggestion(task.path, lasting[task.name], now=moment, seed=seed)):
            shown.note(why_not)
        return suggestion

    with live(progress_stream(), for_people=progress_stream().isatty()) as shown:
        environ = as_started(os.environ)
        engine = partial(launcher_of, environ=environ)
        outside = Outside(suggest, engine, trial, time.time, time.sleep, shown.note, Path.cwd(), environ)
        if dry_run:
            output.show(of_plan, preview(tasks, plan, outside))
            return
        ended = command(tasks, plan, outside, compared, picture=picture)
    output.show(report, ended.jobs, on_record=True)
    if ended.failure:
        raise ended.failure


def configs_and_command(words: Sequence[str]) -> tuple[list[Path], tuple[str, ...]]:
    """The config.ini files that stand first, and the command after them; UsageError JPO-E311 where no config.ini stands first."""
    count = next((number for number, word in enumerate(words) if not word.lower().endswith(ENDINGS)), len(words))
    if words and not count:
        finding = "is not a CONFIG.INI, which goes before the command"
        raise UsageError(f"{words[0]!r:.200}", finding, "write e.g. jpo optimize config.ini -- python train.py", code="JPO-E311")
    return [config_file(word) for word in words[:count]], tuple(words[count:])
