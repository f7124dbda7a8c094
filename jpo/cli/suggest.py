"""`jpo suggest`: its options and help."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jpo.cli.arguments import config_of, load_settings, new_id, targets_for_once
from jpo.cli.gate import ReaderGone, complain, save_copy
from jpo.cli.options import FILE, Network, network_options, options, output_options, seed_option, settings_options
from jpo.cli.output import READABLE, Output, track, writable
from jpo.cli.subject import config_inis
from jpo.errors import JpoError, NothingAdmissible, UsageError

if TYPE_CHECKING:
    from jpo.commands.suggest import SuggestOptions
    from jpo.history import Store
    from jpo.project.load import LoadedSettings

WOULD_CHANGE = 10
DESTROYS = "JPO-E307"
"""Code of a result that would destroy what JPO works with: nothing is done."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FileAsked:
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

    if in_force is not None and len(given) > 1:
        raise UsageError("--in-force", "is one file, and several are asked for", "leave it out", code="JPO-E308")
    now = time.time()
    flags = {"prometheus": network.flags, "agent": {"explore": explore}, "preference": prefer}
    histories: dict[str, Store] = {}

    def asked_of(path: Path | None) -> FileAsked:
        settings = load_settings(path, toml, flags)
        lasting = settings if prefer is None else load_settings(path, toml, {**flags, "preference": None})
        if deadline is not None or max_cost is not None:  # guard and agent alike go by them
            settings = load_settings(path, toml, {**flags, "sla": targets_for_once(deadline, max_cost, settings, now)})
        config = config_of(path, settings)
        writable([*output.files, *([in_force] if in_force else [])], config, settings)
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
        return FileAsked(config, replace(settings, histories=histories), replace(lasting, histories=histories), wanted)

    try:
        return answer_each(given or (None,), asked_of, output, in_force, changed=WOULD_CHANGE if check else 0)
    finally:
        for store in histories.values():
            store.__exit__()


def answer_each(
    paths: Sequence[Path | None],
    asked_of: Callable[[Path | None], FileAsked],
    output: Output,
    in_force: Path | None,
    *,
    changed: int,
) -> int:
    """Answer for each file as if it were alone, and let the agent learn. Of several, an error of one is a line on stderr and has
    its place in the result; the exit code is the highest of theirs, else `changed` where a file would be another one.
    """
    from jpo.commands.suggest import suggest as answer
    from jpo.report import suggested, suggestion
    from jpo.report.answer import Report

    def tried(step: Callable[[], T], path: Path | None) -> T | tuple[Path, JpoError]:
        try:
            return step()
        except JpoError as error:
            if len(paths) == 1 or path is None or error.code == DESTROYS:
                raise
            complain(f"{'' if str(error).startswith(str(path)) else f'{path}: '}{error} [{error.code}]")
            return path, error

    asked: Sequence[Any] = [tried(partial(asked_of, path), path) for path in paths]
    found = list[Any]()
    try:
        for at in range(1) if len(paths) == 1 else track(range(len(asked)), "suggest"):
            one = asked[at]
            known = isinstance(one, FileAsked)
            found.append(tried(partial(answer, one.config, one.settings, one.options), paths[at]) if known else one)
        reports = [one for one in found if isinstance(one, Report)]
        if in_force is not None and reports[0].in_force is not None:
            save_copy(in_force, reports[0].in_force)
        on_record = any(isinstance(one, FileAsked) and not one.options.dry_run for one in asked)
        if len(paths) == 1:
            output.show(suggestion, reports[0], on_record=on_record)
        else:
            output.show(suggested, found, on_record=on_record)
    except (NothingAdmissible, ReaderGone):
        learn_afterwards(asked, found)  # its new runs are on record all the same
        raise
    learn_afterwards(asked, found)
    failed = [one[1].exit_code for one in found if isinstance(one, tuple)]
    return max(failed, default=changed if any(one.suggestion.changes_file for one in reports) else 0)


def learn_afterwards(asked: Sequence[object], found: Sequence[object]) -> None:
    """Let the agent learn from what is new, if it may, for as long as the longest [agent] learn_budget says: of one file after
    another in half of it, beginning with another one each time; the rest is for the last and the release test. Its trouble is a
    line on stderr.
    """
    refused = [
        path for path, error in (one for one in found if isinstance(one, tuple)) if not isinstance(error, NothingAdmissible)
    ]
    may = [one for one in asked if isinstance(one, FileAsked) and one.options.learn and not one.options.dry_run]
    may = [one for one in may if one.config not in refused]
    if not may:
        return
    from jpo.commands.learn import learn_after_suggestion  # what only learning needs takes a while to import
    from jpo.learning.deadline import in_seconds
    from jpo.project.request import learn_seconds_of

    begin, end = int(time.time()) % len(may), in_seconds(max(learn_seconds_of(one.lasting) for one in may))
    half = end.half_way
    for left, one in enumerate((*may[begin:], *may[:begin]), 1 - len(may)):
        until, now, seed = end if left == 0 else half, one.options.now, one.options.seed
        seconds = until.at - time.monotonic()
        if why_not := learn_after_suggestion(one.config, one.lasting, now=now, seed=seed, tests=left == 0, most_seconds=seconds):
            complain(why_not)
