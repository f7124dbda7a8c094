"""`jpo learn`: its options and help."""

import time
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.gate import answer
from jpo.cli.options import FILE, seed_option
from jpo.cli.output import track
from jpo.cli.subject import job_options
from jpo.cli.workers import spread_options
from jpo.errors import UsageError
from jpo.policies import TRAINED, PolicyName
from jpo.records.progress import Spread

DEFAULT_BUDGET = "30s"
START_SECONDS = 1.0
"""What Python may have taken to start counts, too; a process that calls this after other work has used more."""


@click.command()
@click.option("--rebuild", is_flag=True, help="Forget what this workload taught, and learn from all runs with a new agent.")
@click.option("--budget", metavar="DURATION", help="Time limit, the test included; default: 30s, with --rebuild none.")
@click.option("--pretrain", type=FILE, metavar="FILE", help="Train a new policy in the simulator and write it to FILE.")
@click.option("--policy", type=click.Choice(TRAINED), help="With --pretrain: which policy; default: sac.")
@click.option("--jobs", type=click.IntRange(10), help="With --pretrain: simulated jobs per agent; default: as shipped.")
@spread_options("--processes", " for simulated jobs", default=1)
@seed_option
@job_options
def learn(
    given: Path | None,
    toml: Path | None,
    *,
    rebuild: bool,
    budget: str | None,
    pretrain: Path | None,
    policy: PolicyName | None,
    jobs: int | None,
    seed: int,
    spread: Spread,
) -> None:
    """Update the agent from the history (needs jpo[learn]).

    \b
    Examples:
      jpo learn config.ini
      jpo learn config.ini --budget 10m
      jpo learn config.ini --rebuild
      jpo learn --pretrain policy.safetensors
      jpo learn --pretrain steering.safetensors --policy steering
    """
    began = time.monotonic() - min(time.process_time(), START_SECONDS)
    from jpo.commands import learn as command
    from jpo.learning.deadline import Deadline

    if pretrain and (given or rebuild or toml or budget):
        finding = "learns in the simulator alone"
        raise UsageError("--pretrain", finding, "leave out config.ini, --rebuild, --config and --budget", code="JPO-E308")
    for option, given_to_it in {"--jobs": jobs, "--policy": policy}.items():
        if given_to_it and not pretrain:
            raise UsageError(option, "says what --pretrain is to practise", "name a FILE, or leave it out", code="JPO-E308")
    if pretrain:
        answer(command.pretrain(pretrain, policy=policy or "sac", jobs=jobs, seed=seed, spread=spread, track=track))
    else:
        settings = load_settings(given, toml, {"agent": {"learn_budget": budget or DEFAULT_BUDGET}})
        until = Deadline() if rebuild and budget is None else Deadline(began + settings.values.agent.learn_budget)
        wanted = command.LearnOptions(time.time(), until, rebuild, seed, spread)
        answer(command.learn(config_of(given, settings), settings, wanted, track=track))
