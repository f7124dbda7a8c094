"""`python -m constraints before.ini after.ini`: the pipeline's own look at an edit, in a process that never saw the agent.

A checkout has the committed values; those in force since earlier nights may be others. With their file, both steps are judged:
from the committed values to those in force, which many nights may have led to, by every limit but that of one step; and from
there to the proposal by all of them. A forged file in between can make one step of several, and nothing else.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NoReturn

from constraints.check import check
from constraints.counting import totals
from constraints.inifile import (
    IniFile,
    ParameterValue,
    dotted,
    find_parameters,
    followed,
    found_at,
    held_by,
    other_changes,
    read,
    users,
)
from constraints.limits import Limits, limits_from
from constraints.printable import printable, printable_json
from constraints.settings_files import files_for, tables_of
from constraints.verdict import Verdict, Violation, number
from constraints.words import plain
from constraints.workload_checker import Checker, checker_from, run_checker

APPROVED, REJECTED, UNUSABLE = 0, 1, 2
SCHEMA_VERSION = 1
LONGEST = 2000  # characters of an error, which may quote a file
RULES_OF_FILES = 2  # nothing_else_changes, readable_value
TO_IN_FORCE = "committed to in force: "


@dataclass(frozen=True, slots=True)
class Review:
    """Result of comparing two files."""

    before: Mapping[str, ParameterValue]
    after: Mapping[str, ParameterValue]
    verdict: Verdict
    notices: tuple[str, ...]

    step: str = ""
    """Which of two steps it is; empty where there is only one."""

    @property
    def changes(self) -> list[tuple[str, ParameterValue, ParameterValue]]:
        """(parameter, before, after) of every value that differs."""
        return [
            (name, old, self.after[name]) for name, old in self.before.items() if old.value != self.after.get(name, old).value
        ]


def main(argv: Sequence[str], today: datetime.date) -> int:
    """Compare two files, print the verdict, and return the exit code: 0 approved, 1 a rule is broken, 2 unusable input."""
    options = arguments().parse_args(argv)
    try:
        limits, checker = read_limits(settings_of(options))
        before, after = read(options.before), read(options.after)
        between = read(options.in_force) if options.in_force else None
        first = () if between is None else (replace(compare(before, between, in_one_step(limits), today), step=TO_IN_FORCE),)
        last = compare(between or before, after, limits, today)
        agreed = all(review.verdict.approved for review in first)
        reviews = (*first, ask_checker(last, checker, after) if agreed else last)
    except ValueError as error:
        line = printable(str(error))
        sys.stderr.write(f"constraints: {line if len(line) <= LONGEST else f'{line[:LONGEST]} ...'}\n")
        return UNUSABLE
    sys.stdout.write(as_json(reviews) if options.output == "json" else "".join(map(as_text, reviews)))
    return APPROVED if all(review.verdict.approved for review in reviews) else REJECTED


class CommandLine(argparse.ArgumentParser):
    """argparse, which quotes what was typed, and a script may have typed it."""

    def error(self, message: str) -> NoReturn:
        """How it is used, and what was wrong in one line."""
        super().error(printable(message))


def arguments() -> argparse.ArgumentParser:
    """The command line of `python -m constraints`."""
    parser = CommandLine(
        prog="python -m constraints",
        description="May after.ini replace before.ini? Checks changed values against the limits, and that nothing else changed.",
        epilog="exit code: 0 approved, 1 a rule is broken, 2 unusable input",
    )
    parser.add_argument("before", type=Path, help="config.ini as it was")
    parser.add_argument("after", type=Path, help="config.ini as it is proposed")
    parser.add_argument(
        "--in-force", type=Path, metavar="FILE", help="config.ini as it was in force before, where the checkout has older values"
    )
    parser.add_argument(
        "--limits",
        type=Path,
        action="append",
        default=[],
        metavar="jpo.toml",
        help="limits, quota, prices and the team's checker (default: built in); of several the last one wins, key by key",
    )
    parser.add_argument(
        "--limits-of",
        type=Path,
        metavar="config.ini",
        help="those by which `jpo suggest config.ini` goes: jpo.toml over [tool.jpo] of pyproject.toml, found as it finds them; "
        "--limits then counts as --config does there",
    )
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="form of the answer (default: text)")
    return parser


def settings_of(options: argparse.Namespace) -> Sequence[Path]:
    """The settings files that count, the strongest last.

    Raises:
        ValueError: --limits-of names no file: with a mistyped name the built-in limits would count, which may allow more.
    """
    if options.limits_of is None:
        return tuple(options.limits)
    if not options.limits_of.is_file():
        raise ValueError(f"--limits-of {options.limits_of}: is not a file; name the config.ini that `jpo suggest` is given")
    return files_for(options.limits_of, options.limits)


def read_limits(files: Sequence[Path]) -> tuple[Limits, Checker | None]:
    """Limits and checker of settings files, later ones over earlier; the built-in limits where there are none."""
    tables = tables_of(files)
    try:
        return limits_from(tables), checker_from(tables)
    except ValueError as error:
        raise ValueError(f"{' over '.join(str(path) for path in reversed(files))}: {error}") from error


def in_one_step(limits: Limits) -> Limits:
    """The same limits for values that many nights may have led to: how far one step may lead is not asked of them."""
    return replace(limits, parameters={name: replace(limit, max_change=None) for name, limit in limits.parameters.items()})


def compare(before: IniFile, after: IniFile, limits: Limits, today: datetime.date) -> Review:
    """The review of two files: checks the values, and that nothing but values of parameters differs."""
    old, notices = find_parameters(before, limits)
    if limits.prices.catalogue and limits.quota.usd_per_hour < math.inf:
        notices = [*notices, "[quota] usd_per_hour was not checked here: only jpo reads the catalogue of [prices]"]
    new: dict[str, ParameterValue] = {}
    violations = list(other_changes(before, after, frozenset(parameter.key for parameter in old.values())))
    for name, parameter in old.items():
        if why := held_by(parameter.comment, today):
            limits = limits.holding([name], why)
        try:
            new[name] = found_at(after, name, parameter.chain[0], limits.parameters[name])
        except ValueError as error:
            violations.append(Violation(name, "unreadable", "a number", "readable_value", f"{after.path}: {error}"))
        meant = limits.parameters[name].key and len(parameter.chain) == 1  # jpo.toml names it: who refers to it shall follow
        if name in new and new[name].value != parameter.value and not meant:
            violations += (followed(key, parameter.key) for key in users(before, parameter))
    now, then = ({name: values[name].value for name in new} for values in (old, new))
    verdict = check(totals(now), totals(then), limits)
    return Review(old, new, rejected(verdict, violations), tuple(notices))


def ask_checker(review: Review, checker: Checker | None, after: IniFile) -> Review:
    """The review with the team's own checker, which is asked about proposals to which the rules have no objection."""
    if checker is None or not review.verdict.approved:
        return review
    reason = run_checker(checker.command, after.data, after.path.name, checker.timeout_seconds)
    violations = [] if reason is None else [Violation("config", "rejected", "exit code 0", "workload_checker", reason)]
    return replace(review, verdict=replace(rejected(review.verdict, violations), rules=review.verdict.rules + 1))


def rejected(verdict: Verdict, violations: Sequence[Violation]) -> Verdict:
    """The verdict with violations added that the values alone do not show; no values are known that would fix those."""
    if not violations:
        return verdict
    return replace(verdict, approved=False, parameters=None, violations=(*violations, *verdict.violations))


def as_text(review: Review) -> str:
    """The review as text: a summary in one line, then one line for each broken rule."""
    verdict, rules = review.verdict, review.verdict.rules + RULES_OF_FILES
    changes = (
        ", ".join(f"{name} {number(old.value)} -> {number(new.value)}" for name, old, new in review.changes) or "no value changes"
    )
    broken = f"{len({v.rule for v in verdict.violations})} of {rules} rules broken"
    lines = [
        f"approved: {review.step}{changes}; {rules} rules" if verdict.approved else f"rejected: {review.step}{changes}; {broken}"
    ]
    lines += [f"violated: {v.rule}: {v.message}" for v in verdict.violations]
    if not verdict.approved and verdict.parameters is not None:
        lines.append("allowed: " + ", ".join(f"{name} = {number(value)}" for name, value in verdict.parameters.items()))
    lines += [f"notice: {v.rule}: {v.message}; it is so already" for v in verdict.notices]
    lines += [f"notice: {notice}" for notice in review.notices]
    return "".join(f"{printable(line)}\n" for line in lines)


def as_json(reviews: Sequence[Review]) -> str:
    """The review of the proposal as JSON, with that of the values in force where they are others."""
    answer: dict[str, object] = {"schema_version": SCHEMA_VERSION, **document(reviews[-1])}
    answer["approved"] = all(review.verdict.approved for review in reviews)
    if len(reviews) > 1:
        answer["in_force"] = document(reviews[0])
    return printable_json(json.dumps(answer, indent=2, allow_nan=False)) + "\n"


def document(review: Review) -> dict[str, object]:
    """One review, for programs."""
    verdict = review.verdict
    nearest = verdict.parameters
    return {
        "approved": verdict.approved,
        "rules": verdict.rules + RULES_OF_FILES,
        "changes": [
            {"parameter": name, "key": dotted(old.key), "old": plain(old.value), "new": plain(new.value)}
            for name, old, new in review.changes
        ],
        "parameters": None if nearest is None else {name: plain(value) for name, value in nearest.items()},
        "violations": [asdict(violation) for violation in verdict.violations],
        "notices": [
            *({"message": v.message, "rule": v.rule} for v in verdict.notices),
            *({"message": n} for n in review.notices),
        ],
    }
