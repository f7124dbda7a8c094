"""The parts of the tests: each test is in one of those that CI runs, and what is asked for at every change needs nothing."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from parts import MARK, PARTS, SERVICES, TESTS, WithoutTorch, belongs, is_unit, may_hold, refused

ROOT = TESTS.parent
MODULES = sorted(TESTS.rglob("test_*.py"))


def test_ci_runs_every_part() -> None:
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert set(re.findall(r"call pytest,(\w+)", made)) == {*PARTS}
    assert re.search(r"^test: unit rest ", made, re.MULTILINE)
    assert re.search(r"^make check test slow$", (ROOT / ".ci/run").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("marked", [False, True])
def test_a_test_is_in_one_part_of_those_that_ci_runs(marked: bool) -> None:
    item = SimpleNamespace(get_closest_marker=lambda _name: marked or None)
    for module in MODULES:
        if marked and MARK not in module.read_text(encoding="utf-8"):
            continue
        parts = [part for part in ("units", "rest", "slow") if may_hold(part, module) and belongs(part, item)]
        assert len(parts) == 1, (module, parts)


def test_no_unit_test_is_slow() -> None:
    assert [module for module in MODULES if is_unit(module) and MARK in module.read_text("utf-8")] == []


@pytest.mark.parametrize(
    ("part", "fixture", "skipped"), [("quick", "ray", True), ("units", "ray", False), ("quick", "tmp_path", False)]
)
def test_what_asks_for_a_service_is_not_quick(part: str, fixture: str, skipped: bool) -> None:
    assert refused(part, fixture) is skipped


def test_every_service_is_a_fixture() -> None:
    files = [path.read_text(encoding="utf-8") for path in (TESTS / "conftest.py", *MODULES)]
    fixtures = {name for text in files for name in re.findall(r"@pytest\.fixture.*\ndef (\w+)\(", text)}
    assert fixtures >= SERVICES


def test_torch_is_not_found_by_what_runs_at_every_change() -> None:
    assert WithoutTorch.find_spec("torch") is None
    assert WithoutTorch.find_spec("json") is not None


@pytest.mark.parametrize("part", PARTS)
def test_what_cannot_be_of_a_part_is_not_imported(part: str) -> None:
    held = {name: may_hold(part, TESTS / name) for name in ("test_parts.py", "examples/test_digits.py", "golden/test_golden.py")}
    assert held == {
        "test_parts.py": part in ("units", "quick"),
        "examples/test_digits.py": part in ("rest", "slow"),
        "golden/test_golden.py": part == "rest",
    }
