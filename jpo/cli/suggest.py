"""`jpo suggest`: its options and help."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jpo.cli.arguments import config_of, new_id, settings_for_once
from jpo.cli.gate import ReaderGone, at_the_gate, complain, save_copy
from jpo.cli.options import FILE, Network, network_options, options, output_options, seed_option, settings_options
from jpo.cli.output import READABLE, Output, track, writable
from jpo.cli.subject import config_inis
from jpo.cli.workers import workers
from jpo.errors import JpoError, NothingAdmissible, UsageError
from jpo.wording.hidden import keep_secret, kept_secrets

if TYPE_CHECKING:
    from jpo.commands.suggest import SuggestOptions
    from jpo.project.load import LoadedSettings
    from jpo.report.answer import Report

WOULD_CHANGE = 10
PART = 25
"""Files that one process answers in a row: it reads the newest runs of all workloads once for them."""
DESTROYS = "JPO-E307"
"""Code of a result that would destroy what JPO works with: nothing is done."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FileAsked:
    """A config.ini and what the command line says of it; `lasting`: its settings without what holds for this once."""

    config: Path
    settings: "LoadedSettings"
    lasting: "LoadedSettings"
    options: "SuggestOptions"

    def answer(self) -> "Report":
        from jpo.commands.suggest import suggest as answer

        return answer(self.config, self.settings, self.options)


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
    from jpo.commands.suggest import SuggestOptions

    if in_force is not None and len(given) > 1:
        raise UsageError("--in-force", "is one file, and several are asked for", "leave it out", code="JPO-E308")
    options = SuggestOptions(
        "",
        time.time(),
        dry_run=dry_run or check,
        diff=diff,
        offline=network.offline,
        strict=strict,
        learn=not no_learn,
        seed=seed,
        done_by=deadline is not None,
    )
    flags = {"prometheus": network.flags, "agent": {"explore": explore}, "preference": prefer}
    settings = partial(settings_for_once, toml=toml, flags=flags, deadline=deadline, max_cost=max_cost, now=options.now)
    results = [*output.files, *([in_force] if in_force else [])]
    asking = partial(asked_of, settings_of=settings, chosen=chosen, results=results, options=options)
    return answer_each(given or (None,), asking, output, in_force, changed=WOULD_CHANGE if check else 0)


def asked_of(
    path: Path | None,
    *,
    settings_of: "Callable[[Path | None], tuple[LoadedSettings, LoadedSettings]]",
    chosen: Sequence[str],
    results: Sequence[Path],
    options: "SuggestOptions",
) -> FileAsked:
    """What the command line asks of one config.ini."""
    from jpo.cli.names import values_given

    settings, lasting = settings_of(path)
    config = config_of(path, settings)
    writable(results, config, settings)
    own = replace(options, suggestion_id=new_id(options.now), chosen=values_given("--set", chosen, config, settings))
    return FileAsked(config, settings, lasting, own)


def answer_each(
    paths: Sequence[Path | None],
    asking: Callable[[Path | None], FileAsked],
    output: Output,
    in_force: Path | None,
    *,
    changed: int,
) -> int:
    """Answer for each file as if it were alone, and let the agent learn. Of several, an error of one is a line on stderr and has
    its place in the result; the exit code is the highest of theirs, else `changed` where a file would be another one.
    """
    from jpo.project.project import stores_kept_open
    from jpo.report import suggested, suggestion
    from jpo.report.answer import Report

    found, alone = list[Any](), len(paths) == 1
    with stores_kept_open():
        asked = [complained(tried(partial(asking, path), path, alone=alone)) for path in paths]
        try:
            found += answered(paths, asking, asked)
            reports = [one for one in found if isinstance(one, Report)]
            if in_force is not None and reports[0].in_force is not None:
                save_copy(in_force, reports[0].in_force)
            on_record = any(isinstance(one, FileAsked) and not one.options.dry_run for one in asked)
            if alone:
                output.show(suggestion, reports[0], on_record=on_record)
            else:
                output.show(suggested, found, on_record=on_record)
        except (NothingAdmissible, ReaderGone):
            learn_afterwards(asked, found)  # its new runs are on record all the same
            raise
        learn_afterwards(asked, found)
    failed = [one[1].exit_code for one in found if isinstance(one, tuple)]
    return max(failed, default=changed if any(one.suggestion.changes_file for one in reports) else 0)


def tried(step: Callable[[], T], path: Path | None, *, alone: bool = False) -> T | tuple[Path, JpoError]:
    """The result of a step, or of one of several files its error."""
    try:
        return step()
    except JpoError as error:
        if alone or path is None or error.code == DESTROYS:
            raise
        return path, error


def complained(one: T) -> T:
    """The result, with a line on stderr where it is an error."""
    if isinstance(one, tuple):
        path, error = one
        complain(f"{'' if str(error).startswith(str(path)) else f'{path}: '}{error} [{error.code}]")
    return one


def answered(paths: Sequence[Path | None], asking: Callable[[Path | None], FileAsked], asked: Sequence[Any]) -> Iterator[Any]:
    """The answers in the order of the files, of many by a process per core; what could not be asked has its error."""
    alone, parts = len(paths) == 1, range(0, len(paths), PART)
    with workers(None, "local", len(parts)) as on:
        if on is starmap:  # in this process, which has already read what each is asked
            for at in range(1) if alone else track(range(len(paths)), "suggest"):
                one = asked[at]
                yield complained(tried(one.answer, paths[at], alone=alone)) if isinstance(one, FileAsked) else one
            return
        results = on(answered_part, ((asking, paths[at : at + PART]) for at in parts))
        for at, (some, secrets) in zip(track(parts, "suggest"), results, strict=True):
            keep_secret(*secrets)
            for one, two in zip(asked[at : at + PART], some, strict=True):
                yield one if isinstance(one, tuple) else complained(two)


def answered_part(asking: Callable[[Path | None], FileAsked], paths: Sequence[Path]) -> tuple[list[Any], Sequence[str]]:
    """The answers for some files in a process of its own, and the secrets that what is made of them must not contain."""
    from jpo.project.project import stores_kept_open

    with at_the_gate(), stores_kept_open():
        return [tried(lambda path=path: asking(path).answer(), path) for path in paths], kept_secrets()  # type: ignore[misc]


def learn_afterwards(asked: Sequence[object], found: Sequence[object]) -> None:
    """Let the agent learn from what is new, if it may: of one file after another, beginning with another one each time, until the
    longest [agent] learn_budget is used up; the release test is behind the first. Its trouble is a line on stderr.
    """
    refused = [one[0] for one in found if isinstance(one, tuple) and not isinstance(one[1], NothingAdmissible)]
    new = [one for one in asked if isinstance(one, FileAsked) and one.options.learn and not one.options.dry_run]
    if not (may := [one for one in new if one.config not in refused]):
        return
    from jpo.commands.learn import learn_after_suggestion  # what only learning needs takes a while to import
    from jpo.project.request import learn_seconds_of

    begin, until = int(time.time()) % len(may), time.monotonic() + max(learn_seconds_of(one.lasting) for one in may)
    for number, one in enumerate((*may[begin:], *may[:begin])):
        left, now, seed = until - time.monotonic(), one.options.now, one.options.seed
        if why_not := learn_after_suggestion(one.config, one.lasting, now=now, seed=seed, tests=not number, most_seconds=left):
            complain(why_not)
