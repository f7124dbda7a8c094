from __future__ import annotations

from made import DIGITS, a_run

from jpo.history import open_store
from jpo.records import Finished


def test_forgetting_is_no_source_of_runs_and_moves_none() -> None:
    runs = tuple(a_run(f"r{number}", 200.0 + number) for number in range(400))
    with open_store("sqlite://") as store:
        store.record(Finished(runs, watermark=9000.0), now=1.0, identity=DIGITS, source="prometheus")
        store.forget_runs(DIGITS, newest=300, now=2.0)
        assert set(store.readings(DIGITS)) == {"prometheus"}
        assert store.readings(DIGITS)["prometheus"].read_until == 9000.0
        assert store.record(Finished((a_run("late", 250.0),)), now=3.0) == ()
        assert len(store.record(Finished((a_run("new", 9999.0),)), now=4.0)) == 1
