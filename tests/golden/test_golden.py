"""Every document that JPO prints for programs is as on record, exit codes and written bytes of config.ini included.

After a change on purpose: `python tests/golden/renew.py` (its docstring has more), and read `git diff tests/golden/expected`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from golden.harness import EXPECTED, Difference, Json, differences, golden, normalised, on_record, play, report
from golden.scenarios import SCENARIOS

CASES = [(scenario.name, step.name) for scenario in SCENARIOS for step in scenario.steps]


@cache
def documents(scenario: str) -> Mapping[str, Json]:
    """A scenario's documents; it is played once per process, whichever of its cases comes first."""
    [chosen] = [one for one in SCENARIOS if one.name == scenario]
    if chosen.needs:
        pytest.importorskip(chosen.needs)
    with TemporaryDirectory() as folder:
        return play(chosen, Path(folder))


@pytest.mark.parametrize(("scenario", "step"), CASES, ids=[f"{scenario}-{step}" for scenario, step in CASES])
def test_a_document_is_as_on_record(scenario: str, step: str) -> None:
    assert golden(scenario, step).exists(), "no golden file: python tests/golden/renew.py"
    if found := list(differences(on_record(scenario, step), documents(scenario)[step])):
        pytest.fail(f"{golden(scenario, step).name}: {len(found)} differences\n{report(found)}", pytrace=False)


def test_every_golden_file_has_a_case() -> None:
    assert {(path.parent.name, path.stem) for path in EXPECTED.glob("*/*.json")} == set(CASES)


@pytest.mark.parametrize(
    ("expected", "found", "words"),
    [
        ({"a": 1.0}, {"a": 1.0 + 1e-9}, []),
        ({"a": 1.0}, {"a": 1.00001}, ["a: expected 1.0, found 1.00001"]),
        ({"a": 1}, {"a": 1.0}, ["a: expected 1, found 1.0"]),
        ({"a": 1}, {"a": True}, ["a: expected 1, found true"]),
        ({"at": 1795327200.0}, {"at": 1795327201.0}, ["at: expected 1795327200.0, found 1795327201.0"]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, [": keys in another order: b, a; expected a, b"]),
        ({"a": 1}, {"b": 1}, [": keys missing: a", ": new keys: b"]),
        ({"a": [1, 2]}, {"a": [1]}, ["a: expected 2 entries, found 1: 1"]),
        (["0.30000000000000004", "2"], ["0.3", "2"], []),
        (["2"], ["2.0"], ['[0]: expected "2", found "2.0"']),
        ({"a": "takes 52 % less"}, {"a": "52% less time"}, ['a (wording): expected "takes 52 % less", found "52% less time"']),
        ({"a": "takes 52 % less"}, {"a": "takes 53 % less"}, ['a: expected "takes 52 % less", found "takes 53 % less"']),
        ({"a": "kept"}, {"a": "changed"}, ['a: expected "kept", found "changed"']),
        ({"stdout": {"text": ["2.45s of 3 runs"]}}, {"stdout": {"text": ["2.46s of 3 runs"]}}, []),
        (
            {"stdout": {"text": ["2.45s of 3 runs"]}},
            {"stdout": {"text": ["2.45s of 4 runs"]}},
            ['stdout.text[0]: expected "2.45s of 3 runs", found "2.45s of 4 runs"'],
        ),
        ({"a": ["2.45s of 3 runs"]}, {"a": ["2.46s of 3 runs"]}, ['a[0]: expected "2.45s of 3 runs", found "2.46s of 3 runs"']),
    ],
)
def test_what_counts_as_a_difference(expected: Json, found: Json, words: list[str]) -> None:
    assert [str(one) for one in differences(expected, found)] == words


def test_a_missing_document_differs() -> None:
    assert list(differences(None, {"a": 1})) == [Difference("", 'expected null, found {"a": 1}')]


def test_what_depends_on_the_machine_is_replaced(tmp_path: Path) -> None:
    document: Json = {
        "suggestion_id": "20261122-060000-3fa9c1",
        "by": {"host": "vm", "user": "root", "where": "local"},
        "hash": "ab" * 32,
        "source_digest": "cd" * 32,
        "text": f"{tmp_path}/.jpo/jpo.db, 3.3 MiB",
        "data": '{"mean": 0.123456789012}',
        "at": 1795327200.123456,
    }
    assert normalised(document, tmp_path) == {
        "suggestion_id": "20261122-060000-xxxxxx",
        "by": {"host": "<host>", "user": "<user>", "where": "local"},
        "hash": "<hash>",
        "source_digest": "cd" * 32,
        "text": "<project>/.jpo/jpo.db, <size>",
        "data": {"JSON in a text": {"mean": 0.123456789}},
        "at": 1795327200.123456,
    }
