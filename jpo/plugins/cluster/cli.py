"""`jpo cluster`: its commands, their options and help."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jpo.cli.gate import put, save
from jpo.cli.options import FILE, ExplainingGroup, options, output_options, seed_option, verbose_option
from jpo.cli.output import READABLE, Output, can_be_kept, track, track_in_lines
from jpo.cli.workers import spread_options
from jpo.errors import UsageError
from jpo.files.reading import same_file
from jpo.plugins.cluster.cli_workloads import RESOURCES_HELP, policy_options, workload_options

if TYPE_CHECKING:
    from jpo.plugins.cluster.story.scenarios import Sources
    from jpo.records import Spread

FORMS = ("philly", "openb", "pollux", "history", "phases")
"""FORMS of jpo.plugins.cluster.workload.convert, which needs numpy: help must not; and traces of resources."""


@click.group(cls=ExplainingGroup, shared=workload_options, context_settings={"show_default": True})
def cluster() -> None:
    """Judge policies of workload management on clusters."""


@cluster.command("evaluate")
@workload_options
@policy_options
@click.option("--seeds", type=click.IntRange(1, 10_000), default=1, help="Of drawn jobs and `random`.")
@seed_option
@click.option(
    "--fail-if", "conditions", multiple=True, metavar="CLAIM", help='"saf+easy worse than fcfs+easy by 5%": exit code 3.'
)
@click.option("--out-jobs", type=FILE, metavar="FILE", help="One schedule's jobs as Batsim's out_jobs.csv.")
@click.option("--out-schedule", type=FILE, metavar="FILE", help="Its figures as Batsim's out_schedule.csv.")
@spread_options("--jobs", ", for much work")
@output_options("text", "json", "csv", "markdown", "html", files=True)
@verbose_option
def evaluate(
    sources: "Sources",
    policies: Sequence[str],
    backfill: Sequence[str],
    resources: Sequence[str],
    seeds: int,
    seed: int,
    conditions: Sequence[str],
    out_jobs: Path | None,
    out_schedule: Path | None,
    spread: "Spread",
    output: Output,
) -> None:
    """Simulate a workload under policies.

    Waits, slowdowns, makespan and utilisation of each policy.

    \b
    Examples:
      jpo cluster evaluate --workload log.swf --procs 128 --policy sjf --backfill easy -o json
      jpo cluster evaluate --workload log.swf.gz --policy fcfs,saf,f1 --backfill none,easy
      jpo cluster evaluate --draw 5000 --procs 256 --seeds 10 --policy fcfs+easy,saf+easy \\
          --fail-if "saf+easy worse than fcfs+easy by 5%"
    """
    from jpo.plugins.cluster import batsim, fail_condition
    from jpo.plugins.cluster.report import evaluation as subject
    from jpo.plugins.cluster.story import evaluate as command
    from jpo.plugins.cluster.story.scenarios import named_rules

    kept = [file for file in (out_jobs, out_schedule) if file]
    _keepable([*output.files, *kept], sources)
    rules = named_rules(policies, backfill, resources or ("",))
    named = [fail_condition.parsed(text, [rule.name for rule in rules]) for text in conditions]
    drawn = range(seed, seed + seeds)
    if kept:
        schedule = command.one_schedule(sources, rules, drawn, "--out-jobs" if out_jobs else "--out-schedule")
        if out_jobs:
            save(out_jobs, batsim.jobs_csv(schedule))
        if out_schedule:
            save(out_schedule, batsim.schedule_csv(schedule))
    evaluated = command.evaluate(sources, rules, drawn, spread=spread, track=track)
    output.show(subject, evaluated)
    for condition in named:
        condition.check(evaluated.evaluations)


@cluster.command("describe")
@workload_options
@output_options(*READABLE, files=True)
@verbose_option
def describe(sources: "Sources", output: Output) -> None:
    """Show what a workload is like.

    Sizes, run times, load, users, and how well requested times fit.

    \b
    Example:
      jpo cluster describe --workload log.swf --procs 128
    """
    from jpo.plugins.cluster.description import describe as described
    from jpo.plugins.cluster.report import description as subject
    from jpo.plugins.cluster.story.scenarios import scenarios_of

    _keepable(output.files, sources)
    output.show(subject, [described(one) for one in scenarios_of(sources, (), range(1), [])])


@cluster.command("plot")
@click.argument("picture", type=FILE, metavar="PICTURE.PNG|.SVG")
@workload_options
@policy_options
@seed_option
@verbose_option
def plot(
    picture: Path, sources: "Sources", policies: Sequence[str], backfill: Sequence[str], resources: Sequence[str], seed: int
) -> None:
    """Draw one schedule: who held which device when.

    Below it, how many devices were busy and how many jobs waited.

    \b
    Example:
      jpo cluster plot gantt.png --workload log.swf --procs 128 --policy saf+easy --first 500
    """
    from jpo.plugins.cluster.report.plots import plot as draw_schedule
    from jpo.plugins.cluster.story import evaluate as command
    from jpo.plugins.cluster.story.scenarios import named_rules
    from jpo.report.forms.picture import can_plot

    can_plot(picture)
    _keepable([picture], sources)
    rules = named_rules(policies, backfill, resources or ("",))
    draw_schedule(command.one_schedule(sources, rules, range(seed, seed + 1), "jpo cluster plot"), picture)


@cluster.command("convert")
@click.argument("table", type=FILE)
@click.option("--from", "form", type=click.Choice(FORMS), required=True, help="Whose table it is.")
@click.option("--duration", "durations", multiple=True, metavar="NAME=SECONDS", help="Of an application (pollux); repeatable.")
@click.option("--without-jpo", is_flag=True, help="A history as it would have been without JPO's suggestions.")
@click.option("--model", type=FILE, help="Of `jpo phases fit`, for traces of resources (phases).")
@click.option("--gbps-per-core", type=click.FloatRange(0, 10_000), default=8.0, help="Of memory, for a busy core (phases).")
@click.option("--output", "output_file", type=FILE, metavar="FILE", help="Write it there, not to stdout.")
@verbose_option
def convert(
    table: Path,
    form: str,
    durations: Sequence[str],
    model: Path | None,
    gbps_per_core: float,
    output_file: Path | None,
    *,
    without_jpo: bool,
) -> None:
    """Make a table of training jobs of another one.

    Philly's, openb's and Pollux' tables, JPO's own history, and traces of resources with a model of their phases.

    \b
    Examples:
      jpo cluster convert cluster_job_log --from philly --output jobs.csv
      jpo cluster convert history.json --from history > team.csv
      jpo cluster convert traces.csv --from phases --model MODEL --output jobs.csv
    """
    from jpo.plugins.cluster.story.convert import converted
    from jpo.plugins.cluster.story.scenarios import Sources

    if output_file:
        _keepable([output_file], Sources((table,)), model)
    text, left_out = converted(table, form, durations, jpo=not without_jpo, model=model, gbps_per_core=gbps_per_core)
    if output_file:
        save(output_file, text)
    else:
        put(text)
    if left_out:
        from jpo.cli.gate import complain

        complain(f"{table}: {left_out} jobs never ran or still do, and are left out")


LIMIT = click.FloatRange(0.01, 86_400)
agent_options = options(
    click.option("--agent", "agent_file", metavar="MINE.PY:CLASS", help="An agent of yours: the file is run."),
    click.option("--agent-limit", type=LIMIT, default=60.0, metavar="SECONDS", help="Longest that it may take for an answer."),
    click.option("--objective", default="slowdown", help="wait, slowdown, turnaround, makespan, ..."),
    click.option("--length", type=click.IntRange(2, 100_000), default=256, help="Jobs of a sequence."),
    click.option("--split", type=click.FloatRange(0.0, 0.95), default=0.7, help="Share to learn from."),
)


legacy_option = click.option(
    "--options", "legacy", type=FILE, metavar="OPTIONS.JSON", help="An options file of HDeepRM, in place of a workload."
)


@cluster.command("train")
@click.argument("model", type=FILE, metavar="MODEL.SAFETENSORS")
@workload_options
@agent_options
@click.option("--learner", help="cross-entropy (default in mode backfill), actor-critic (default in others), or reinforce.")
@click.option("--mode", type=click.Choice(["job", "backfill", "pair"]), default="backfill")
@click.option("--order", default="saf", help="Job selection that sorts the queue.")
@click.option("--resource", default="first", help=RESOURCES_HELP)
@click.option("--slots", type=click.IntRange(1, 1024), default=32, help="Waiting jobs to choose from.")
@click.option("--tries", type=click.IntRange(1, 100), default=1, help="Begin so often; the best one counts.")
@click.option("--rounds", type=click.IntRange(1, 100_000), default=50, help="How often to learn.")
@click.option("--episodes", type=click.IntRange(1, 1000), default=16, help="Sequences of each round.")
@click.option("--hidden", type=click.IntRange(1, 1024), default=32, help="Width of networks.")
@click.option("--lr", type=click.FloatRange(0, 1), default=1e-3, help="Learning rate.")
@click.option("--gamma", type=click.FloatRange(0, 1), default=1.0, help="Discount of later rewards.")
@click.option("--begin", type=FILE, metavar="MODEL", help="Continue from a model.")
@legacy_option
@spread_options("--processes", " for --tries")
@seed_option
@verbose_option
def train(
    model: Path,
    sources: "Sources",
    agent_file: str | None,
    agent_limit: float,
    begin: Path | None,
    legacy: Path | None,
    seed: int,
    spread: "Spread",
    **given: object,
) -> None:
    """Let an agent learn to manage a cluster.

    On the first part of a workload; the model is kept as safetensors. Needs jpo[cluster,learn].

    \b
    Examples:
      jpo cluster train model.safetensors --workload log.swf --procs 128 --rounds 100
      jpo cluster train mine.safetensors --draw 20000 --procs 256 --agent mine.py:Mine
    """
    from jpo.cli.gate import answer
    from jpo.plugins.cluster.story import agents as command
    from jpo.plugins.cluster.story.scenarios import scenarios_of

    _keepable([model], sources, legacy, Path(agent_file.rpartition(":")[0]) if agent_file else None)
    if legacy:
        from jpo.plugins.cluster.story import legacy as of_hdeeprm

        asked, scenario, _ = of_hdeeprm.read(legacy)
        of_hdeeprm.refuse_unnamed(legacy, asked, agent_file)
        lessons, scenarios = of_hdeeprm.lessons(asked, scenario, int(str(given["rounds"]))), [scenario]
        begin = begin or asked.agent.input_model
    else:
        lessons = command.lessons_of(given, seed)
        scenarios = scenarios_of(sources, (), range(seed, seed + 1), [])
    own = command.OwnAgent(agent_file, agent_limit) if agent_file else None
    answer(command.train(scenarios, lessons, model, begin=begin, own=own, spread=spread, track=track_in_lines))


@cluster.command("test")
@workload_options
@agent_options
@click.option("--model", type=FILE, help="A model of `jpo cluster train`, or `shipped`: JPO's, for GPUs.")
@click.option("--anchored", is_flag=True, help="Leave the rule only as far as that paid on the first part of the workload.")
@click.option("--against", multiple=True, default=["saf+easy,f1+easy"], metavar="A,B,...", help="Rules.")
@click.option("--sequences", type=click.IntRange(2, 10_000), default=40, help="How many to judge on.")
@legacy_option
@seed_option
@output_options(*READABLE, files=True)
@verbose_option
def test(
    sources: "Sources",
    agent_file: str | None,
    agent_limit: float,
    objective: str,
    length: int,
    split: float,
    model: Path | None,
    anchored: bool,
    against: Sequence[str],
    sequences: int,
    legacy: Path | None,
    seed: int,
    output: Output,
) -> None:
    """Judge an agent beside rules on jobs it has not seen.

    On sequences of the last part of a workload, with 95% intervals of the difference.

    \b
    Examples:
      jpo cluster test --model model.safetensors --workload log.swf --procs 128
      jpo cluster test --agent mine.py:Mine --workload other.swf --procs 256 --split 0
    """
    from jpo.plugins.cluster.report import standings as subject
    from jpo.plugins.cluster.story import agents as command
    from jpo.plugins.cluster.story.scenarios import named_rules, scenarios_of

    _keepable(output.files, sources, legacy, model)
    rules = named_rules(against, ("none",))
    own = command.OwnAgent(agent_file, agent_limit) if agent_file else None
    if legacy:
        from jpo.cli.gate import explain_at_length
        from jpo.plugins.cluster.report import evaluation
        from jpo.plugins.cluster.story import legacy as of_hdeeprm

        asked, scenario, notes = of_hdeeprm.read(legacy)
        of_hdeeprm.refuse_unnamed(legacy, asked, agent_file)
        if asked.agent.pair:
            evaluated, schedule = of_hdeeprm.classic(asked, scenario, notes)
            if asked.log_decisions:
                explain_at_length("".join(f"{line}\n" for line in of_hdeeprm.decisions(schedule)))
            output.show(evaluation, evaluated)
            return
        wanted = command.ContestOptions(asked.objective, 2, len(scenario.jobs), 0.0)
        learnt = command.Contestant(own, model or asked.agent.input_model, asked.seed, anchored)
        output.show(subject, command.test([scenario], learnt, rules, wanted, track=track))
        return
    scenarios = scenarios_of(sources, rules, range(seed, seed + 1), [])
    wanted = command.ContestOptions(command.known_objective(objective), sequences, length, split)
    output.show(subject, command.test(scenarios, command.Contestant(own, model, seed, anchored), rules, wanted, track=track))


def _keepable(results: Sequence[Path], sources: "Sources", *others: Path | None) -> None:
    """Find out before anything is computed that a result could not be kept, or would destroy what it is made of: JPO-E307."""
    for file in results:
        if any(given is not None and same_file(file, given) for given in (*sources.logs, sources.platform, *others)):
            raise UsageError(str(file), "is what the result is made of", "name another file", code="JPO-E307")
    can_be_kept(results)
