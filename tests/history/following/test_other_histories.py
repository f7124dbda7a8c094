"""Runs whose suggestions are in no history of this pipeline: told once, with one of them."""

from __future__ import annotations

from made import a_run, a_suggestion

from jpo.history import open_store
from jpo.history.following.other_histories import of_other_histories


def test_a_suggestion_of_another_history_is_named_and_one_of_its_own_is_not() -> None:
    runs = [a_run(name, 900.0) for name in ("r1", "r2", "r3", "by-hand")]
    with open_store("sqlite://") as store:
        store.append(a_suggestion("s1", 100.0), config="config.ini", source_digest="ab")
        assert list(of_other_histories(store, runs, {"r1": "s1", "gone": "s9"})) == []
        (one,) = of_other_histories(store, runs, {"r1": "s1", "r2": "s2"})
        (more,) = of_other_histories(store, runs, {"r2": "s2", "r3": "s3"})
    assert one.code == "JPO-W164"
    assert one.text.startswith("Run r2 was given values by suggestion s2, which this history does not know; the runs count")
    assert "does not know, nor 1 other that runs name; " in more.text
