"""Runs whose suggestions are in no history of this pipeline: told once, with one of them."""

from __future__ import annotations

from made import a_run, a_suggestion

from jpo.history import open_store
from jpo.history.following.other_histories import unknown_suggestions


def test_a_suggestion_of_another_history_is_named_and_one_of_its_own_is_not() -> None:
    by_hand, *runs = (a_run(f"r{n}", 900.0, given_by=f"s{n}" if n else "") for n in range(4))
    with open_store("sqlite://") as store:
        store.append(a_suggestion("s1", 100.0), config="config.ini", source_digest="ab")
        assert list(unknown_suggestions(store, [by_hand, runs[0]])) == []
        (one,) = unknown_suggestions(store, [by_hand, *runs[:2]])
        (more,) = unknown_suggestions(store, runs)
    assert one.code == "JPO-W164"
    assert one.text.startswith("Run r2 was given values by suggestion s2, which this history does not know; the runs count")
    assert "does not know, nor 1 other that runs name; " in more.text
