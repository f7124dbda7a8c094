"""`jpo lab simulate`: its options and help."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jpo.cli.options import FILE, output_options, seed_option, verbose_option
from jpo.cli.output import READABLE, Output, can_be_kept, track
from jpo.cli.workers import spread_options
from jpo.errors import UsageError
from jpo.policies import POLICIES, PolicyName

if TYPE_CHECKING:
    from jpo.project.load import LoadedSettings
    from jpo.records import Spread
    from jpo.simulate.installations import Kind

INSTALLATIONS = ("none", "host-memory", "slow-loaders", "slow-links", "batch-limit", "warped")
"""KINDS of jpo.simulate.installations, which needs numpy: help must not."""


@click.command()
@click.option("--workloads", type=click.IntRange(1, 1000), default=20, help="How many to simulate.")
@click.option("--runs", type=click.IntRange(1, 1000), default=30, help="Runs of each.")
@seed_option
@click.option("--prefer", "--preference", metavar="PREFERENCE", help="time, cost, efficiency, balanced, or time=0.3,cost=0.7.")
@click.option("--explore", type=click.Choice(["off", "safe", "on"]), help="How much to explore; default: safe.")
@click.option(
    "--installation",
    type=click.Choice(INSTALLATIONS),
    help="A cluster unlike the simulator, the same for all workloads, one after the other.",
)
@click.option("--drift", is_flag=True, help="Data grow and hardware changes meanwhile.")
@click.option(
    "--policies",
    metavar="A,B,...",
    help=f"Compare deciders on the same workloads: {', '.join(POLICIES)}. The first is the reference.",
)
@click.option(
    "--learn", is_flag=True, help="Let the agent learn in between, as in jpo suggest; its time decides how far it gets."
)
@output_options(*READABLE, files=True)
@click.option("--plot", "picture", type=FILE, metavar="FILE", help="Cost and time against runs as a picture: .png or .svg.")
@click.option("--keep", type=FILE, metavar="FOLDER", help="Keep the workloads and their store in a new folder.")
@spread_options("--processes", " for --policies")
@verbose_option
def simulate(
    workloads: int,
    runs: int,
    seed: int,
    prefer: str | None,
    explore: str | None,
    installation: "Kind | None",
    policies: str | None,
    output: Output,
    picture: Path | None,
    keep: Path | None,
    spread: "Spread",
    *,
    drift: bool,
    learn: bool,
) -> None:
    """Put simulated workloads through JPO in virtual time.

    Before and after in one table.

    \b
    Examples:
      jpo lab simulate --workloads 20 --runs 30
      jpo lab simulate --workloads 5 --runs 20 --prefer cost --explore on --plot fleet.png
      jpo lab simulate --workloads 24 --runs 8 --installation host-memory
      jpo lab simulate --workloads 3 --runs 10 --keep fleet      then look around: cd fleet/workload-00; jpo explain
    """
    from jpo.plugins.lab.report import fleet as one
    from jpo.plugins.lab.report import policies as several
    from jpo.plugins.lab.story import simulate as command
    from jpo.report.forms.picture import can_plot, save

    compared = known_policies(policies) if policies else ()
    if picture and compared:
        raise UsageError("--plot", "shows one fleet, not several", "leave out --policies", code="JPO-E714")
    if picture:
        can_plot(picture)
    can_be_kept([*output.files, *([picture] if picture else [])])
    plan = command.Plan(workloads, runs, seed=seed, drift=drift, preference=prefer, explore=explore, installation=installation)
    if compared:
        each: dict[str, command.Suggest] = {policy: partial(decided_by, policy, learn, seed) for policy in compared}
        output.show(several, command.simulate_each(plan, each, keep=keep, spread=spread, track=track))
        return
    fleet = command.simulate(plan, partial(decided_by, "sac", learn, seed), keep=keep, track=track)
    if picture:
        save(one.charts(fleet), picture, one.headline(fleet))
    output.show(one, fleet)


def decided_by(
    policy: PolicyName, learn: bool, seed: int, config: Path, settings: "LoadedSettings", suggestion_id: str, now: float
) -> str:
    """Who decided, once config.ini is changed and, where it may `learn`, the agent has learnt."""
    from jpo.commands.learn import learn_after_suggestion
    from jpo.commands.suggest import SuggestOptions, suggest
    from jpo.learning.serving import LEARNING

    learning = learn and policy != "belief"
    options = SuggestOptions(suggestion_id, now, offline=True, learn=learning, policy=policy, seed=seed)
    decision = suggest(config, settings, options).suggestion.decision
    if learning and policy in LEARNING:
        learn_after_suggestion(config, settings, now=now, seed=seed)
    return decision.decided_by


def known_policies(text: str) -> tuple[PolicyName, ...]:
    """Names of policies, each once. Raises UsageError: JPO-E714 one that is none, or is there twice."""
    names = [name.strip() for name in text.split(",")]
    if wrong := [name for name in names if name not in POLICIES or names.count(name) > 1]:
        finding = f"{wrong[0]!r} is not a policy, or is named twice"
        raise UsageError("--policies", finding, f"name some of {', '.join(POLICIES)}, each once", code="JPO-E714")
    return tuple(sorted((name for name in POLICIES if name in names), key=names.index))
