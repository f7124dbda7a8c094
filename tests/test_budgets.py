"""Sums are budgets: tests/budgets.toml says how much there may be in all, and raising a line there is a knowing act."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from command_lines import leaves

from jpo.cli.main import CORE

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from apparatus.decision_numbers import numbers  # noqa: E402  # which benchmarks/ablation.py changes one by one

BUDGETS = {
    name: budget for table in tomllib.loads((ROOT / "tests/budgets.toml").read_text()).values() for name, budget in table.items()
}
ALL = sorted((ROOT / "jpo").rglob("*.py"))
OF_THE_CORE = [path for path in ALL if "plugins" not in path.relative_to(ROOT / "jpo").parts[:1]]
SLACK = 0.01
"""By which a sum may be below its line before the line must come down, too."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def lines(paths: list[Path]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """Names of modules, and of what is taken from them, that a module imports when it runs."""
    for_types = {
        id(inner)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and id(node) not in for_types:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import) and id(node) not in for_types:
            yield from (alias.name for alias in node.names)


def reached_from(start: str) -> list[Path]:
    """The modules of jpo that one imports, with the packages around them, and what these import."""
    known = {module_of(path): path for path in ALL}
    found, left = {start}, [start]
    while left:
        for name in imports(known[left.pop()]):
            parts = name.split(".")
            new = {".".join(parts[:n]) for n in range(1, len(parts) + 1)} & known.keys() - found
            found |= new
            left += new
    return [known[name] for name in found]


def records() -> Iterator[int]:
    """The number of fields of each record."""
    for path in ALL:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef) and (fields := sum(isinstance(part, ast.AnnAssign) for part in node.body)):
                yield fields


def options() -> Iterator[str]:
    for name, command in leaves():
        yield from (f"{name} {option.opts[0]}" for option in command.params if isinstance(option, click.Option))


FOUND = {
    "jpo": lambda: lines(ALL),
    "core": lambda: lines(OF_THE_CORE),
    "suggest_reaches": lambda: lines(reached_from("jpo.commands.suggest")),
    "project": lambda: lines([path for path in ALL if path.is_relative_to(ROOT / "jpo/project")]),
    "fields_of_records": lambda: sum(records()),
    "large_records": lambda: sum(fields > 12 for fields in records()),
    "commands_of_the_core": lambda: len(CORE),
    "options": lambda: len(list(options())),
    "reason_codes": lambda: len(re.findall(r"^\*\*JPO-[EWI]\d+\*\*", (ROOT / "docs/codes.md").read_text(), re.MULTILINE)),
    "constants_of_the_decision": lambda: len(list(numbers())),
    "names_twice_in_the_core": lambda: sum(
        count > 1 for count in Counter(path.name for path in OF_THE_CORE if path.name != "__init__.py").values()
    ),
    "golden_bytes": lambda: sum(path.stat().st_size for path in (ROOT / "tests/golden/expected").rglob("*") if path.is_file()),
    "pages_of_the_core": lambda: len(list((ROOT / "docs").glob("*.md"))),
    "decisions": lambda: len(list((ROOT / "docs/decisions").glob("0*.md"))),
}


def test_every_budget_is_held_by_a_sum() -> None:
    assert BUDGETS.keys() == FOUND.keys()


@pytest.mark.parametrize("name", BUDGETS)
def test_a_sum_is_within_its_budget(name: str) -> None:
    found, most = FOUND[name](), BUDGETS[name]["most"]
    assert found <= most, f"{name}: {found} of at most {most}; take something away, or raise the line with its reason"


@pytest.mark.parametrize("name", [name for name, budget in BUDGETS.items() if "goal" in budget])
def test_a_budget_above_its_goal_has_no_slack(name: str) -> None:
    found, budget = FOUND[name](), BUDGETS[name]
    assert budget["most"] <= max(budget["goal"], found * (1 + SLACK)), (
        f"{name} is {found} now: lower its line in tests/budgets.toml"
    )
