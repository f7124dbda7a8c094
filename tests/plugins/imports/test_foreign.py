"""What all formats share: bounded files, cells of nested values, ids."""

from __future__ import annotations

import os

import pytest

from jpo.errors import TelemetryError
from jpo.plugins.imports.foreign import MOST_CELLS, ForeignRun, ForeignRuns, digest_of, flat, joined, json_of, text_of


def test_nested_values_become_cells(tmp_path):
    values = {"optim": {"lr": 0.1, "name": "sgd"}, "seed": 1, "amp": True, "tags": [1, 2], "none": None}
    assert flat(values, tmp_path) == {"optim.lr": "0.1", "optim.name": "sgd", "seed": "1", "amp": "true"}


def test_values_without_end_are_refused(tmp_path):
    deep: dict[str, object] = {}
    for _ in range(100):
        deep = {"a": deep, "b": 1}
    for values in (deep, {str(number): number for number in range(MOST_CELLS + 1)}):
        with pytest.raises(TelemetryError, match=r"nested deeper|more than"):
            flat(values, tmp_path)


@pytest.mark.parametrize("text", ["[1]", "{", '{"a": ' + "[" * 100_000, '{"a": ' + "1" * 5000 + "}", ""])
def test_what_is_no_json_object_is_refused(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(TelemetryError) as caught:
        json_of(tmp_path / "a.json", 2**20)
    assert caught.value.code == "JPO-E150"


def test_a_pipe_a_large_file_and_another_encoding_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"a" * 11)
    (tmp_path / "latin").write_bytes(b"\xe4")
    for name, finding in {"pipe": "pipe", "large": "larger", "latin": "UTF-8", "none": "No such file"}.items():
        with pytest.raises(TelemetryError, match=finding):
            text_of(tmp_path / name, 10)


def test_a_digest_knows_names_from_values():
    assert digest_of([("a", "b c")]) == digest_of([("a", "b c")])
    assert digest_of([("a", "1"), ("b", "2")]) == digest_of([("b", "2"), ("a", "1")])
    assert len({digest_of(parts) for parts in ([("a", "bc")], [("ab", "c")], [("a", "b"), ("", "c")])}) == 3


def test_files_of_one_tool_are_one_source():
    first, second = (ForeignRuns("table", name, (ForeignRun(name, None, {}),), notes=("same",)) for name in "ab")
    both = joined([first, second])
    assert (both.place, len(both.runs), both.notes) == ("a and 1 more", 2, ("same",))
