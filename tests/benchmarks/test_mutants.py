"""The faults that are put into a module: each is one, and a test that passes with it leaves it alive."""

import ast
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MUTANTS = runpy.run_path(str(ROOT / "benchmarks" / "mutants.py"))


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a < b", ["a <= b"]),
        ("a is b not in c", ["a is not b not in c", "a is b in c"]),
        ("a and b", ["a or b"]),
        ("x = -a * b", ["-a / b", "+a"]),
        ("not a", ["not not a"]),
        ("x = True, 2, 0.5, 'text', None", ["False", "3", "1.5"]),
        ("x: Literal[1] = a", []),
        ("def f(x: Literal[1] = 2) -> Literal[3]: ...", ["3"]),
    ],
)
def test_each_place_is_changed_once_and_a_hint_never(source: str, changed: list[str]) -> None:
    places = MUTANTS["places"](source)
    made = [MUTANTS["mutant"](source, place) for place in places]
    assert [name for name, _ in made] == [f"1: {each}" for each in changed]
    assert len({ast.dump(tree) for _, tree in made} | {ast.dump(ast.parse(source))}) == len(changed) + 1


def test_every_module_of_the_core_and_its_tests_are_there() -> None:
    for module, tests in MUTANTS["CORE"].items():
        assert (ROOT / module).is_file()
        assert all((ROOT / "tests" / each).exists() for each in tests)
