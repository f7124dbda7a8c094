from __future__ import annotations

from made import DIGITS, a_run

from jpo.history import open_store, verify
from jpo.history.retention.forget import remembered
from jpo.history.runs import key_of
from jpo.records import Finished, Identity, Series


def test_what_is_on_record_may_still_gain_what_was_unknown() -> None:
    old, new = a_run("old", 200.0), a_run("new", 400.0)
    told = Finished((old, new))
    assert remembered(told, {key_of(old)}, lambda _: 300.0).runs == (old, new)
    assert remembered(told, (), lambda _: 300.0).runs == (new,)
    assert remembered(told, (), lambda _: None) is told


def test_each_workload_forgets_for_itself() -> None:
    elsewhere = a_run("old", 200.0, identity=Identity("cifar10", "resnet18", "pytorch"))
    told = Finished((a_run("old", 200.0), elsewhere))
    assert remembered(told, (), lambda identity: 300.0 if identity == DIGITS else None).runs == (elsewhere,)


def test_old_runs_go_with_their_series_and_do_not_come_back() -> None:
    runs = tuple(a_run(f"r{number}", 200.0 + number) for number in range(700))
    series = tuple(Series(run.run_id, "cpu_cores", (1.0, 2.0), (0.5, 0.6)) for run in runs)
    with open_store("sqlite://") as store:
        store.record(Finished(runs, series=series), now=1000.0)
        forgotten = store.forget_runs(DIGITS, newest=300, now=2000.0)
        assert (forgotten.runs, forgotten.kept) == (700 - forgotten.kept, len(store.runs_of(DIGITS)))
        assert {"r0", "r400", "r699"} <= {run.run_id for run in store.runs_of(DIGITS)}
        assert forgotten.ended_until < 600.0
        assert store.series_of(runs[-1])
        assert store.record(Finished(runs, series=series), now=3000.0) == ()
        assert len(store.runs_of(DIGITS)) == forgotten.kept
        assert store.forget_runs(DIGITS, newest=300, now=4000.0).runs == 0
        assert store.audit_records(limit=1)[0].data["runs"] == forgotten.runs
        assert verify(store).ok


def test_workloads_are_counted() -> None:
    elsewhere = Identity("cifar10", "resnet18", "pytorch", "a100")
    with open_store("sqlite://") as store:
        store.record(Finished((a_run(), a_run("r2", 300.0), a_run(identity=elsewhere))), now=1.0)
        assert store.numbers_of_runs() == {elsewhere: 1, DIGITS: 2}


def test_forgetting_is_no_source_of_runs_and_moves_none() -> None:
    runs = tuple(a_run(f"r{number}", 200.0 + number) for number in range(400))
    with open_store("sqlite://") as store:
        store.record(Finished(runs, watermark=9000.0), now=1.0, identity=DIGITS, source="prometheus")
        store.forget_runs(DIGITS, newest=300, now=2.0)
        assert set(store.readings(DIGITS)) == {"prometheus"}
        assert store.readings(DIGITS)["prometheus"].read_until == 9000.0
        assert store.record(Finished((a_run("late", 250.0),)), now=3.0) == ()
        assert len(store.record(Finished((a_run("new", 9999.0),)), now=4.0)) == 1
