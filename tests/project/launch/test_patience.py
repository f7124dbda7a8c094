from __future__ import annotations

import time

import pytest

from jpo.project.launch.patience import within


def test_calls_are_made_side_by_side_and_not_waited_for_any_longer() -> None:
    said, begun = list[str](), time.monotonic()
    within(0.5, [lambda: said.append("a"), lambda: time.sleep(5), lambda: said.append("b")])
    assert time.monotonic() - begun < 3
    assert sorted(said) == ["a", "b"]


def test_what_a_call_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        within(5.0, [lambda: 1 // 0])
