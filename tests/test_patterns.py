"""Regular expressions over texts of others: each answers at once, whatever stands in a file, at any length.

A pattern that begins anew at each character takes a minute for 100,000 of them. All patterns of both packages are found by their
syntax and applied as they are used there; a limit of CPU time, which nothing else comes near, ends one that does not answer.
"""

from __future__ import annotations

import ast
import importlib
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from types import FrameType

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = sorted(
    path for path in (ROOT / "constraints", ROOT / "jpo", *(ROOT / "jpo").iterdir()) if (path / "__init__.py").is_file()
)
LENGTH = 25_000
PATIENCE_CPU_SECONDS = 0.25
"""For one text: many times what the slowest pattern takes, and a twentieth of what a quadratic one does."""
METHODS = {
    "search": "search",
    "match": "match",
    "fullmatch": "fullmatch",
    **dict.fromkeys(("findall", "finditer", "sub", "split"), "findall"),
}
PARTS = (*" 1,'\"[]()%=a-:._/#\n{@$", "1.", "1 ", "a ", "a-", "%(", "1:", "e1", "::")
BEFORE = ("", "1", "a ", "://a:")
BEHIND_A_LIMIT = {r"(\d+)(ms|[smhdwy])", r"([0-9.]+)\s*([a-zA-Z]+)"}
"""Applied only to what another pattern, or a limit of length, has let through."""

Use = tuple[re.Pattern[str], str]
"""A pattern, and the method that it is used with."""


class Slow(Exception):
    pass


@pytest.fixture(autouse=True)
def limit_of_cpu_time() -> Iterator[None]:
    def over(_number: int, _frame: FrameType | None) -> None:
        raise Slow

    before = signal.signal(signal.SIGVTALRM, over)
    yield
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_no_pattern_begins_anew_at_each_character(folder: Path) -> None:
    pytest.importorskip("torch")  # which some modules import
    modules = folder.glob("*.py") if folder.name == "jpo" else folder.rglob("*.py")
    uses = dict.fromkeys(use for path in sorted(modules) for use in uses_in(path))
    assert [(pattern.pattern, slow) for pattern, method in uses if (slow := slow_text(pattern, method)) is not None] == []


def test_a_quadratic_pattern_is_found() -> None:
    assert slow_text(re.compile(r"\s*x"), "search") == ("", " ")


def slow_text(pattern: re.Pattern[str], method: str) -> tuple[str, str] | None:
    """What stands before, and what is repeated in, a text for which a pattern takes too long."""
    for before, part in product(BEFORE, PARTS):
        text = before + part * (LENGTH // len(part)) + "\0"
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE_CPU_SECONDS)
            getattr(pattern, method)(text)
        except Slow:
            return before, part
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return None


def uses_in(path: Path) -> Iterator[Use]:
    """Patterns for text that a module applies, as far as they are known when it is imported."""
    source = path.read_text("utf-8")
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    names = vars(importlib.import_module(module))
    for call in ast.walk(ast.parse(source)):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in METHODS):
            continue
        of_re = isinstance(call.func.value, ast.Name) and call.func.value.id == "re"
        with suppress(NameError, AttributeError, TypeError, KeyError):  # made of what only a call knows
            given = eval(_code(call.args[0] if of_re and call.args else call.func.value), dict(names))  # noqa: S307 - our own source
            flags = eval(" | ".join(ast.unparse(one.value) for one in call.keywords if one.arg == "flags") or "0", dict(names))  # noqa: S307
            pattern = re.compile(given, flags) if isinstance(given, str) else given
            if isinstance(pattern, re.Pattern) and isinstance(pattern.pattern, str) and pattern.pattern not in BEHIND_A_LIMIT:
                yield pattern, METHODS[call.func.attr]


def _code(node: ast.expr) -> str:
    return ast.unparse(node) if not any(isinstance(each, ast.Call | ast.NamedExpr) for each in ast.walk(node)) else "None"
