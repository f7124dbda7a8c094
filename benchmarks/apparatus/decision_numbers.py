"""The numbers and the rules of the decision by name, and a jpo in which one of them is another: for ablation.py and the budget.

A number is changed where its module is read, before anybody has taken it over by `from x import NAME` or as a default value, so
it is changed wherever it is used. That asks for a process in which jpo was not imported yet.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
DECISION = ("agent", "forecast", "optimizer", "simulate")
"""Packages of jpo where it is decided."""
RULE = "rule: "


@dataclass(frozen=True)
class Number:
    """A statement that gives numbers to module-level names, by its place: "agent/acquisition.py: WORTH"."""

    path: Path
    line: int
    names: str

    @property
    def place(self) -> str:
        return f"{self.path.relative_to(ROOT / 'jpo')}: {self.names}"

    @property
    def module(self) -> str:
        return ".".join(self.path.relative_to(ROOT).with_suffix("").parts)


def numbers() -> Iterator[Number]:
    """All of the decision, in the order of their files."""
    for path in (path for part in DECISION for path in sorted((ROOT / "jpo" / part).rglob("*.py"))):
        for node in ast.parse(path.read_text("utf-8")).body:
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            if any(map(is_number, ast.walk(node.value))):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield Number(path, node.lineno, ", ".join(ast.unparse(target).strip("()") for target in targets))


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def rules() -> Iterator[str]:
    """Names of all rules that take candidates away, and of those that answer but the last, in the order of docs/decision.md."""
    from jpo.agent.safety.exploration import RULES
    from jpo.optimizer.advise import CHOICES
    from jpo.report.rules import HOLDS, LIMITS

    yield from (
        RULE + name for name in (*HOLDS, *(rule.name for rule in RULES), *(one.name for one in CHOICES[:-1])) if name != LIMITS
    )


def scaled(factor: float, value: Any) -> Any:
    """The value with its numbers times the factor; of shares above a half what is missing to 1 is divided by it.

    Raises:
        TypeError: there is nothing to be scaled in it.
    """
    if isinstance(value, bool | str | None):
        return value
    if isinstance(value, int):
        return max(int(value * factor), min(value, 1))
    if isinstance(value, float):
        return 1 - (1 - value) / factor if 0.5 < value < 1 else value * factor
    if isinstance(value, np.ndarray):
        return value * factor
    if isinstance(value, tuple | list):
        return type(value)(scaled(factor, part) for part in value)
    if isinstance(value, dict):
        return {key: scaled(factor, part) for key, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: scaled(factor, getattr(value, each.name)) for each in fields(value)})
    raise TypeError(f"a {type(value).__name__} is not scaled")


class Scaling(SourceFileLoader):
    """Reads a module in which one statement has its numbers scaled; nothing of it is cached."""

    def __init__(self, number: Number, factor: float) -> None:
        super().__init__(number.module, str(number.path))
        self._line, self._factor = number.line, factor

    def get_code(self, fullname: str) -> Any:
        tree = ast.parse(Path(self.path).read_text("utf-8"))
        for node in tree.body:
            if node.lineno == self._line and isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                node.value = ast.Call(ast.Name("_scaled", ast.Load()), [node.value], [])
        return compile(ast.fix_missing_locations(tree), self.path, "exec")

    def exec_module(self, module: Any) -> None:
        module._scaled = partial(scaled, self._factor)
        super().exec_module(module)


class Finder:
    """Finds that one module before anybody else does."""

    def __init__(self, number: Number, factor: float) -> None:
        self._module, self._loader = number.module, Scaling(number, factor)

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self._loader) if name == self._module else None


def change(place: str, factor: float) -> None:
    """Change a number, or switch off a rule, for the rest of this process; "" changes nothing."""
    if place.startswith(RULE):
        switch_off(place.removeprefix(RULE))
    elif place:
        if any(name.startswith("jpo.") for name in sys.modules):
            raise RuntimeError("jpo was imported already, with its numbers as they are")
        sys.meta_path.insert(0, Finder(next(one for one in numbers() if one.place == place), factor))  # type: ignore[arg-type]


def switch_off(name: str) -> None:
    """Make a rule hold nothing, or answer nothing."""
    from jpo.agent.safety.exploration import RULES
    from jpo.agent.safety.vetoes import Veto
    from jpo.optimizer.advise import CHOICES

    made: Callable[..., None] = Veto.__init__

    def made_without(self: Veto, rows: Any, why: str, code: str, lasting: bool = True) -> None:
        made(self, rows & (code != name), why, code, lasting)

    Veto.__init__ = made_without  # type: ignore[method-assign]
    for rule in RULES:
        if rule.name == name:
            object.__setattr__(rule, "takes_away", lambda e: np.zeros(len(e.open_rows), dtype=np.bool_))
    for choice in CHOICES:
        if choice.name == name:
            object.__setattr__(choice, "answer", lambda _: None)
