"""`jpo suggest`: its options and help."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jpo.cli.arguments import config_of, load_settings, new_id, targets_for_once
from jpo.cli.gate import ReaderGone, complain, save_copy
from jpo.cli.options import FILE, Network, network_options, options, output_options, seed_option, settings_options
from jpo.cli.output import READABLE, Output, can_be_kept, writable
from jpo.cli.subject import config_inis
from jpo.errors import NothingAdmissible, UsageError

if TYPE_CHECKING:
    from jpo.commands.suggest import SuggestOptions
    from jpo.project.load import LoadedSettings

WOULD_CHANGE = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A config.ini and what the command line says of it; `lasting`: its settings without what holds for this once."""

    config: Path
    settings: LoadedSettings
    lasting: LoadedSettings
    options: SuggestOptions


@click.command()
@click.option("--dry-run", is_flag=True, help="Write nothing anywhere.")
@click.option("--check", is_flag=True, help="Write nothing; exit with 10 if config.ini would change.")
@click.option("--diff", is_flag=True, help="Show the change as a unified diff too.")
@click.option(
    "--set", "chosen", multiple=True, metavar="NAME=VALUE", help="This value instead of the agent's; the guard still decides."
)
@click.option(
    "--prefer", metavar="PREFERENCE", help="time, cost, efficiency, balanced, one of [preferences], or e.g. time=0.3,cost=0.7."
)
@click.option("--deadline", metavar="WHEN", help="Deadline of the run, instead of [sla] time_max: 6h, or 2026-11-22T06:00Z.")
@click.option("--max-cost", metavar="AMOUNT", help="Cost limit, instead of [sla] cost_max: in USD, or e.g. 20EUR.")
@click.option("--explore", type=click.Choice(["off", "safe", "on"]), help="How much to explore; default: safe.")
@click.option(
    "--in-force", type=FILE, metavar="FILE", help="Write the previous values to this file, for `python -m constraints`."
)
@click.option("--no-learn", is_flag=True, help="Do not update the agent afterwards.")
@seed_option
@click.option("--strict", is_flag=True, help="Fail (exit 4) if a source of runs cannot be read completely.")
@output_options(*READABLE, files=True)
@options(network_options, config_inis, settings_options)
def suggest(
    given: Sequence[Path],
    toml: Path | None,
    chosen: Sequence[str],
    *,
    dry_run: bool,
    check: bool,
    diff: bool,
    prefer: str | None,
    deadline: str | None,
    max_cost: str | None,
    explore: str | None,
    in_force: Path | None,
    no_learn: bool,
    seed: int,
    strict: bool,
    network: Network,
    output: Output,
) -> int:
    """Write better values into CONFIG.INI, on record.

    They rest on evidence from earlier runs, and an independent guard has checked them. Several files are answered one by one.

    \b
    Examples:
      jpo suggest config.ini --dry-run                 look first
      jpo suggest config.ini --output-file suggestion.json --output-file summary.md
      jpo suggest config.ini --prefer cost --explore off
      jpo suggest config.ini --deadline 6h --max-cost 20
      jpo suggest config.ini --set batch_size=128      your value, still guarded and on record
      jpo suggest jobs/*/config.ini -o json            each as if alone, in one process
    """
    from jpo.cli.names import values_given
    from jpo.commands.suggest import SuggestOptions

    now = time.time()
    flags = {"prometheus": network.flags, "agent": {"explore": explore}, "preference": prefer}

    def asked_of(path: Path | None) -> Asked:
        settings = load_settings(path, toml, flags)
        lasting = settings if prefer is None else load_settings(path, toml, {**flags, "preference": None})
        if deadline is not None or max_cost is not None:  # guard and agent alike go by them
            settings = load_settings(path, toml, {**flags, "sla": targets_for_once(deadline, max_cost, settings, now)})
        config = config_of(path, settings)
        wanted = SuggestOptions(
            suggestion_id=new_id(now),
            now=now,
            dry_run=dry_run or check,
            diff=diff,
            offline=network.offline,
            strict=strict,
            learn=not no_learn,
            seed=seed,
            chosen=values_given("--set", chosen, config, settings),
            done_by=deadline is not None,
        )
        return Asked(config, settings, lasting, wanted)

    if len(given) > 1:
        from jpo.cli.several import suggest_each

        if in_force is not None:
            raise UsageError("--in-force", "is one file, and several are asked for", "leave it out", code="JPO-E308")
        can_be_kept(output.files)
        return suggest_each(given, asked_of, output, changed=WOULD_CHANGE if check else 0)
    return suggest_one(asked_of(given[0] if given else None), output, in_force, changed=WOULD_CHANGE if check else 0)


def suggest_one(one: Asked, output: Output, in_force: Path | None, *, changed: int) -> int:
    """One answer, and `changed` where the file would be another one."""
    from jpo.commands import suggest as command
    from jpo.report import suggestion

    writable([*output.files, *([in_force] if in_force else [])], one.config, one.settings)
    try:
        report = command.suggest(one.config, one.settings, one.options)
        if in_force is not None and report.in_force is not None:
            save_copy(in_force, report.in_force)
        output.show(suggestion, report, on_record=not one.options.dry_run)
    except (NothingAdmissible, ReaderGone):
        learn_afterwards(one)  # its new runs are on record all the same
        raise
    learn_afterwards(one)
    return changed if report.suggestion.changes_file else 0


def learn_afterwards(one: Asked) -> None:
    """Let the agent learn from what is new, if it may; its trouble is a line on stderr."""
    if one.options.learn and not one.options.dry_run:
        from jpo.commands.learn import learn_after_suggestion  # what only learning needs takes a while to import

        now, seed = one.options.now, one.options.seed
        if why_not := learn_after_suggestion(one.config, one.lasting, now=now, seed=seed, tests=True):
            complain(why_not)
