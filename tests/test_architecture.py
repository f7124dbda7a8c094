"""The house: direction of imports, no dangerous constructs, no file that grows without end."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = [*sorted((ROOT / "jpo").rglob("*.py")), *sorted((ROOT / "constraints").rglob("*.py"))]
DANGEROUS_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}
DANGEROUS_CALLS = {"eval", "exec", "compile", "__import__", "system", "popen"}


def nodes(path: Path) -> Iterator[ast.AST]:
    yield from ast.walk(ast.parse(path.read_text()))


def test_imports_keep_to_the_contracts() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_executed_from_data(path: Path) -> None:
    for node in nodes(path):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = {alias.name.split(".")[0] for alias in node.names} | {(getattr(node, "module", None) or "").split(".")[0]}
            assert not modules & DANGEROUS_MODULES
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            assert name not in DANGEROUS_CALLS or (name == "compile" and isinstance(node.func, ast.Attribute)), (
                f"line {node.lineno}"
            )
            assert not any(keyword.arg == "shell" for keyword in node.keywords), f"line {node.lineno}"


def test_only_the_program_itself_catches_everything() -> None:
    broad = [
        path.relative_to(ROOT)
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or getattr(node.type, "id", "") in ("Exception", "BaseException"))
    ]
    assert set(map(str, broad)) <= {"jpo/__main__.py"}


def test_parts_read_no_clock_and_no_environment() -> None:
    parts = [
        path
        for path in SOURCES
        if path.relative_to(ROOT).parts[1] in ("agent", "forecast", "simulate", "cost", "report", "config")
    ]
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in parts
        for node in nodes(path)
        if isinstance(node, ast.Attribute)
        and (ast.unparse(node) in ("time.time", "os.environ", "datetime.now", "datetime.datetime.now", "date.today", "os.getenv"))
    ]
    assert found == []


def test_the_story_fits_on_one_screen() -> None:
    tree = ast.parse((ROOT / "jpo/commands/suggest.py").read_text())
    (story,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "suggest"]
    assert story.end_lineno - story.lineno < 45  # type: ignore[operator]


def test_no_file_is_longer_than_what_one_reads_at_a_sitting() -> None:
    long = {str(path.relative_to(ROOT)): count for path in SOURCES if (count := len(path.read_text().split("\n"))) > 350}
    assert set(long) <= {"jpo/records.py"}, f"records are the vocabulary and may grow; these are not: {long}"
