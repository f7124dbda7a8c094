"""What every store of the history must do. A new store joins by its name in STORES (and SHARED, if processes share it)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from made import DIGITS, a_run, a_suggestion

from jpo.errors import StoreError, UsageError
from jpo.history import AuditEvent, Store, open_store, verify
from jpo.records import (
    RISK,
    Finished,
    Identity,
    Note,
    Outcome,
    RunStatus,
    Series,
    Suggestion,
)

STORES = ("sqlite in memory", "sqlite file", "postgresql", "preview of sqlite file", "preview of postgresql")
SHARED = ("sqlite file", "postgresql")
CIFAR = Identity("cifar10", "resnet18", "pytorch")


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, url_of: Callable[[str], str]) -> Iterator[Store]:
    url = url_of(request.param.removeprefix("preview of "))
    open_store(url).close()
    with open_store(url, read_only=request.param.startswith("preview")) as opened:
        yield opened


@pytest.fixture(params=SHARED)
def shared_url(request: pytest.FixtureRequest, url_of: Callable[[str], str]) -> str:
    return url_of(request.param)


def append(store: Store, suggestion: Suggestion) -> None:
    store.append(suggestion, config="config.ini", source_digest="ab" * 32)


# --- runs


def test_a_recorded_run_is_read_back_equal(store: Store) -> None:
    everything = Outcome(1.5, 2.5, 3e6, 1e7, 4.25, -0.5, 0.125, 0.5, 0.25, 7.0, 11.0, False)
    run = a_run("läuft/1", outcome=everything, status=RunStatus.OOM_KILLED, started_at=None)
    assert store.record(Finished((run,)), now=300.0) == (run,)
    assert store.runs_of(DIGITS) == (run,)
    assert store.run("läuft/1") == run


def test_old_runs_that_tell_nothing_are_forgotten_once_and_on_record(store: Store) -> None:
    runs = tuple(a_run(f"r{number}", 200.0 + number) for number in range(1200))
    store.record(Finished((*runs, a_run("elsewhere", identity=CIFAR))), now=2000.0)
    forgotten = store.forget_runs(DIGITS, newest=50, now=3000.0)
    assert (forgotten.runs, forgotten.kept) == (1200 - forgotten.kept, len(store.runs_of(DIGITS)))
    assert store.numbers_of_runs() == {CIFAR: 1, DIGITS: forgotten.kept}
    assert store.record(Finished(runs), now=4000.0) == (), "they do not come back"
    assert store.forget_runs(DIGITS, newest=50, now=5000.0).runs == 0
    (record,) = store.audit_records(limit=1)
    assert (record.kind, record.identity, record.data["runs"]) == ("forgotten", DIGITS, forgotten.runs)
    assert verify(store).ok


def test_what_was_not_measured_stays_none(store: Store) -> None:
    store.record(Finished((a_run(parameters={}, outcome=Outcome()),)), now=300.0)
    assert store.runs_of(DIGITS)[0].outcome == Outcome()
    assert store.runs_of(DIGITS)[0].parameters == {}


def test_a_run_reported_twice_is_on_record_once(store: Store) -> None:
    store.record(Finished((a_run(), a_run())), now=300.0)
    assert store.record(Finished((a_run(),)), now=400.0) == ()
    assert len(store.runs_of(DIGITS)) == 1
    assert len(store.audit_records()) == 1


def test_a_later_report_adds_what_was_unknown_and_changes_nothing_known(store: Store) -> None:
    store.record(Finished((a_run(),)), now=300.0)
    later = a_run(status=RunStatus.FAILED, outcome=Outcome(duration_seconds=99.0, val_loss=0.4), source="observe")
    whole = a_run(outcome=Outcome(duration_seconds=50.0, val_loss=0.4))
    assert store.record(Finished((later,)), now=400.0) == (whole,)
    assert store.runs_of(DIGITS) == (whole,)
    assert store.recorded_runs(DIGITS)[0].recorded_at == 300.0


def test_runs_are_oldest_first_and_a_limit_keeps_the_newest(store: Store) -> None:
    store.record(Finished(tuple(a_run(f"r{end}", float(end)) for end in (300, 100, 200))), now=900.0)
    assert [run.run_id for run in store.runs_of(DIGITS)] == ["r100", "r200", "r300"]
    assert [recorded.run.run_id for recorded in store.recorded_runs(limit=2)] == ["r200", "r300"]


def test_workloads_are_kept_apart_even_with_equal_run_ids(store: Store) -> None:
    store.record(Finished((a_run(), a_run(identity=CIFAR))), now=300.0)
    assert [run.identity for run in store.runs_of(CIFAR)] == [CIFAR]
    assert len(store.recorded_runs()) == 2


def test_an_unknown_run_is_none(store: Store) -> None:
    assert store.run("never") is None
    assert store.runs_of(DIGITS) == ()


def test_what_cannot_be_stored_is_refused_and_nothing_of_the_look_is_recorded(store: Store) -> None:
    bad = a_run("r2 \ud800")
    with pytest.raises(StoreError, match="cannot be stored"):
        store.record(Finished((a_run(), bad), watermark=5.0), now=300.0, identity=DIGITS, source="prometheus")
    assert store.runs_of(DIGITS) == ()
    assert "prometheus" not in store.readings(DIGITS)
    assert verify(store).records == 0


LONG = "".join(random.Random(0).choices([chr(n) for n in range(0x4E00, 0x9FA5)], k=4096))
TEXTS = ["'; DROP TABLE runs; --", "a\0b", "\x1a", "\x1a0\0\x1a1", "🦀" * 500, LONG, '{"a": 1}', "%s :run_id ?", "\\'\"\n$$"]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:20]))
def test_any_text_is_only_text(store: Store, text: str) -> None:
    identity = Identity(text, text, text)
    store.record(Finished((a_run(text, identity=identity),)), now=300.0)
    assert store.runs_of(identity)[0].run_id == text
    assert (
        store.record(Finished((a_run(text, identity=identity),), watermark=5.0), now=300.0, identity=identity, source=text) == ()
    )
    assert store.readings(identity)[text].read_until == 5.0
    store.save_agent(text, b"state", expected_version=0)
    assert store.load_agent(text) == (b"state", 1)
    assert verify(store).ok


@pytest.mark.parametrize("changes", [{"run_id": "\udc80"}, {"outcome": Outcome(samples=10**30)}, {"ended_at": 2**70}])
def test_a_text_or_number_that_cannot_be_stored_is_refused(store: Store, changes: dict[str, object]) -> None:
    with pytest.raises(StoreError, match="cannot be stored"):
        store.record(Finished((a_run(**changes),)), now=300.0)


# --- watermarks


def test_the_watermark_moves_with_the_runs_and_never_back(store: Store) -> None:
    for read_until in (50.0, 70.0, 60.0):
        store.record(Finished(watermark=read_until), now=300.0, identity=DIGITS, source="prometheus")
    assert store.readings(DIGITS)["prometheus"].read_until == 70.0
    assert "csv" not in store.readings(DIGITS)
    assert "prometheus" not in store.readings(CIFAR)


def test_each_server_has_a_watermark_of_its_own_with_what_it_passed_over(store: Store) -> None:
    passed_over = {"r\n1": 5.0, "\u0663": 6.5}
    for source, finished in {
        "prometheus http://a": Finished(watermark=7.0, passed_over=passed_over),
        "prometheus http://b": Finished(watermark=9.0),
    }.items():
        store.record(finished, now=300.0, identity=DIGITS, source=source)
    assert store.readings(DIGITS) == {"prometheus http://a": (7.0, passed_over), "prometheus http://b": (9.0, {})}
    store.record(Finished(watermark=6.0, passed_over={}), now=301.0, identity=DIGITS, source="prometheus http://a")
    assert store.readings(DIGITS)["prometheus http://a"] == (7.0, {})
    assert store.readings(CIFAR) == {}


def test_a_source_can_be_taken_over_by_another(store: Store) -> None:
    for identity in (DIGITS, CIFAR):
        store.record(Finished(watermark=7.0), now=300.0, identity=identity, source="prometheus")
    store.take_over(DIGITS, "prometheus", "prometheus http://a")
    assert store.readings(DIGITS) == {"prometheus http://a": (7.0, {})}
    assert store.readings(CIFAR) == {"prometheus": (7.0, {})}


def test_the_ids_of_a_workloads_runs_that_are_over(store: Store) -> None:
    silent = a_run("r4", fell_silent=True)
    store.record(Finished((a_run("r1"), a_run("r2"), a_run("r3", identity=CIFAR), silent)), now=300.0)
    assert store.ended_ids(DIGITS) == {"r1", "r2"}


def test_only_a_run_that_fell_silent_is_replaced_by_a_later_report(store: Store) -> None:
    silent = a_run("r1", status=RunStatus.FAILED, fell_silent=True)
    later = a_run("r1", ended_at=silent.ended_at + 60)
    series = Series("r1", "cpu_cores", (150.0,), (2.0,))
    assert store.record(Finished((silent,), series=(series,)), now=300.0) == (silent,)
    assert store.record(Finished((silent,)), now=301.0) == ()
    assert store.record(Finished((later,)), now=302.0) == (later,)
    assert (store.runs_of(DIGITS), store.series_of(later)) == ((later,), ())
    assert store.record(Finished((silent,)), now=303.0) == ()
    assert store.record(Finished((a_run("r1", ended_at=later.ended_at + 60),)), now=304.0) == ()
    assert store.runs_of(DIGITS) == (later,)


def test_a_partial_answer_records_runs_but_does_not_move_the_watermark(store: Store) -> None:
    store.record(Finished((a_run(),), complete=False, watermark=50.0), now=300.0, identity=DIGITS, source="prometheus")
    assert len(store.runs_of(DIGITS)) == 1
    assert "prometheus" not in store.readings(DIGITS)


@pytest.mark.parametrize("read_until", [float("inf"), float("nan")])
def test_a_watermark_that_would_hide_every_later_run_is_refused(store: Store, read_until: float) -> None:
    with pytest.raises(StoreError):
        store.record(Finished((a_run(),), watermark=read_until), now=300.0, identity=DIGITS, source="prometheus")
    assert store.runs_of(DIGITS) == ()


# --- how runs went

TIMES = (1_700_000_000.25, 1_700_000_015.25, 1_700_000_030.5)
MEMORY, CPU = Series("r1", "memory_gib", TIMES, (0.1, 2.5, 1e-300)), Series("r1", "cpu_cores", TIMES, (1.0, -0.0, 3.0))


def test_series_are_read_back_equal_and_the_first_ones_stay(store: Store) -> None:
    store.record(Finished((a_run(),), series=(MEMORY, CPU)), now=300.0)
    assert store.series_of(a_run()) == (CPU, MEMORY)
    other = replace(MEMORY, values=(7.0, 7.0, 7.0))
    assert store.record(Finished((a_run(),), series=(other,)), now=400.0) == ()
    assert store.series_of(a_run()) == (CPU, MEMORY)
    assert store.series_of(a_run(identity=CIFAR)) == ()


def test_series_may_come_after_their_run_and_survive_what_it_gains(store: Store) -> None:
    store.record(Finished((a_run(),)), now=300.0)
    assert store.series_of(a_run()) == ()
    store.record(Finished((a_run(),), series=(CPU,)), now=400.0)
    store.record(Finished((a_run(outcome=Outcome(val_loss=0.5)),)), now=500.0)
    assert store.series_of(a_run()) == (CPU,)


def test_a_series_whose_run_is_ambiguous_is_left_out(store: Store) -> None:
    store.record(Finished((a_run(), a_run(identity=CIFAR)), series=(CPU, replace(CPU, run_id="never"))), now=300.0)
    assert store.series_of(a_run()) == store.series_of(a_run(identity=CIFAR)) == ()


def test_series_of_old_runs_are_forgotten_and_the_runs_stay(store: Store) -> None:
    new = a_run("new", 900.0)
    store.record(Finished((a_run(), new), series=(MEMORY, CPU, replace(CPU, run_id="new"))), now=1000.0)
    forgotten = store.forget_series(ended_before=500.0, now=2000.0)
    assert (forgotten.runs, forgotten.series, forgotten.size_bytes > 20) == (1, 2, True)
    assert (store.series_of(a_run()), len(store.series_of(new)), len(store.runs_of(DIGITS))) == ((), 1, 2)
    assert store.audit_records()[-1].kind == "forgotten"
    assert store.audit_records()[-1].data["series"] == 2
    assert store.forget_series(ended_before=500.0, now=3000.0).series == 0
    assert len(store.audit_records()) == 3  # where nothing was forgotten, there is nothing to tell


# --- suggestions


def test_a_suggestion_is_read_back_equal(store: Store) -> None:
    append(store, a_suggestion())
    assert store.suggestion("s1") == a_suggestion()
    assert store.suggestions_of(DIGITS) == (a_suggestion(),)
    assert store.suggestions_of(CIFAR) == ()


def test_rollbacks_are_found_among_suggestions_of_any_content(store: Store) -> None:
    append(store, a_suggestion("s1", reasons=(Note(RISK, '"decided_by":"rollback"'),)))
    rollbacks = [a_suggestion(f"r{at}", float(at), decided_by="rollback", undoes="s1", pinned_until=9.5) for at in (3, 2)]
    for one in (*rollbacks, a_suggestion("r4", decided_by="rollback"), a_suggestion("r5", identity=CIFAR, decided_by="rollback")):
        append(store, one)
    store.withdraw("r4", AuditEvent("conflict", 9.0))
    assert store.rollbacks_of(DIGITS) == tuple(rollbacks)


def test_suggestions_come_as_they_went_on_record_where_clocks_differ(store: Store) -> None:
    for one in (
        a_suggestion("s3", 3.0),
        a_suggestion("s0", 2.0, identity=CIFAR),
        a_suggestion("s1", 1.0),
        a_suggestion("s2", 2.0),
    ):
        append(store, one)
    store.withdraw("s2", AuditEvent("conflict", 9.0))
    for since, found in ((None, ["s3", "s1"]), ("s1", ["s1"]), ("s0", ["s1"]), ("never", [])):
        assert [one.suggestion_id for one in store.as_recorded(DIGITS, since=since)] == found


def test_what_was_written_is_known_by_workload(store: Store) -> None:
    for identity, suggestion_id in ((DIGITS, "s1"), (CIFAR, "s2"), (DIGITS, "s3")):
        append(store, a_suggestion(suggestion_id, identity=identity))
        store.audit(
            AuditEvent("written" if suggestion_id != "s3" else "conflict", 9.0, identity, {"suggestion_id": suggestion_id})
        )
    assert (store.written(DIGITS), store.written(CIFAR)) == ({"s1"}, {"s2"})


def test_suggestions_are_oldest_first_and_a_limit_keeps_the_newest(store: Store) -> None:
    for number in (3, 1, 2):
        append(store, a_suggestion(f"s{number}", float(number)))
    assert [one.suggestion_id for one in store.suggestions_of()] == ["s1", "s2", "s3"]
    assert [one.suggestion_id for one in store.suggestions_of(DIGITS, limit=1)] == ["s3"]


def test_an_unknown_suggestion_is_the_users_mistake(store: Store) -> None:
    with pytest.raises(UsageError, match="not on record"):
        store.suggestion("never")


def test_one_suggestion_id_is_on_record_once(store: Store) -> None:
    append(store, a_suggestion())
    with pytest.raises(StoreError, match="on record already"):
        append(store, a_suggestion(reasons=(Note(RISK, "another"),)))
    assert store.suggestion("s1").decision.reasons == (Note(RISK, "because"),)
    assert len(store.audit_records()) == 1


def test_a_suggestion_is_audited_with_what_will_be_written(store: Store) -> None:
    append(store, a_suggestion())
    append(store, a_suggestion("s2", status="kept", changes=()))
    suggested, kept = store.audit_records()
    assert (suggested.kind, kept.kind) == ("suggested", "kept")
    assert suggested.data["changes"] == [{"key": "training.batch_size", "old": "32", "new": "64"}]
    assert suggested.data["source_digest"] == "ab" * 32
    assert suggested.identity == DIGITS


def test_a_run_closes_the_newest_suggestion_it_ran_with(store: Store) -> None:
    append(store, a_suggestion("older", 10.0))
    append(store, a_suggestion("newer", 100.0))
    append(store, a_suggestion("other values", 120.0, suggested={"batch_size": 128.0, "learning_rate": 0.1}))
    append(store, a_suggestion("after its start", 180.0))
    append(store, a_suggestion("other workload", 130.0, identity=CIFAR))
    store.record(Finished((a_run(ended_at=200.0),)), now=300.0)
    assert store.recorded_runs()[0].suggestion_id == "newer"
    assert [run.run_id for run in store.runs_following("newer")] == ["r1"]
    assert store.runs_following("older") == ()


def test_a_run_that_gains_its_parameters_later_closes_its_suggestion_then(store: Store) -> None:
    append(store, a_suggestion())
    store.record(Finished((a_run(parameters={}),)), now=300.0)
    assert store.recorded_runs()[0].suggestion_id is None
    store.record(Finished((a_run(),)), now=400.0)
    assert store.recorded_runs()[0].suggestion_id == "s1"


# --- agents


def test_an_agents_state_is_loaded_as_it_was_saved(store: Store) -> None:
    assert store.load_agent("digits") is None
    assert store.save_agent("digits", b"\x00\xff", expected_version=0) == 1
    assert store.save_agent("digits", b"", expected_version=1) == 2
    assert store.load_agent("digits") == (b"", 2)


@pytest.mark.parametrize("expected_version", [0, 2])
def test_an_agent_saved_by_another_meanwhile_is_not_overwritten(store: Store, expected_version: int) -> None:
    store.save_agent("digits", b"first", expected_version=0)
    with pytest.raises(StoreError, match="saved by another process"):
        store.save_agent("digits", b"second", expected_version=expected_version)
    assert store.load_agent("digits") == (b"first", 1)


def test_an_agent_and_what_the_log_says_of_it_are_saved_both_or_neither(store: Store) -> None:
    learnt, unwritable = AuditEvent("learnt", 1.0, DIGITS, {"runs": 3}), AuditEvent("learnt", 2.0, DIGITS, {"runs": float("nan")})
    store.save_agent("digits", b"first", expected_version=0, event=learnt)
    for expected_version, event in ((0, learnt), (1, unwritable)):
        with pytest.raises(StoreError):
            store.save_agent("digits", b"second", expected_version=expected_version, event=event)
    assert store.load_agent("digits") == (b"first", 1)
    assert [record.data["runs"] for record in store.audit_records()] == [3]


# --- audit log


def test_events_are_chained_in_order_and_verified(store: Store) -> None:
    first = store.audit(AuditEvent("written", 1.0, DIGITS, {"suggestion_id": "s1"}))
    second = store.audit(AuditEvent("learnt", 2.0, None, {"steps": 3, "loss": None, "names": ["a"]}))
    assert store.audit_records() == (first, second)
    assert store.audit_records(limit=1) == (second,)
    assert (first.number, second.number, second.previous) == (1, 2, first.hash)
    assert verify(store).head == second.hash
    assert verify(store, expected_head=first.hash).ok


def test_every_record_says_who_made_it() -> None:
    with open_store("sqlite://", author={"user": "anna", "where": "ci"}) as store:
        store.record(Finished((a_run(),)), now=300.0)
        store.audit(AuditEvent("learnt", 2.0, None, {"by": "nobody"}))
        assert [record.data["by"] for record in store.audit_records()] == [{"user": "anna", "where": "ci"}] * 2


def test_an_empty_log_is_good(store: Store) -> None:
    assert (verify(store).ok, verify(store).records) == (True, 0)


# --- several processes, several lives


def test_everything_is_still_there_after_closing(shared_url: str) -> None:
    with open_store(shared_url) as store:
        append(store, a_suggestion())
        store.record(Finished((a_run(),), watermark=9.0), now=300.0, identity=DIGITS, source="csv")
        store.save_agent("digits", b"state", expected_version=0)
        head = verify(store).head
    with open_store(shared_url) as store:
        assert store.suggestion("s1") == a_suggestion()
        assert store.runs_following("s1") == (a_run(),)
        assert (store.readings(DIGITS)["csv"].read_until, store.load_agent("digits")) == (9.0, (b"state", 1))
        assert verify(store).head == head


def test_a_read_only_store_is_a_copy_that_can_be_used_and_leaves_nothing(shared_url: str) -> None:
    with open_store(shared_url) as store:
        store.record(Finished((a_run(),)), now=300.0)
    with open_store(shared_url, read_only=True) as copy:
        assert copy.record(Finished((a_run(), a_run("r2"))), now=400.0) == (a_run("r2"),)
        assert len(copy.runs_of(DIGITS)) == 2
    with open_store(shared_url) as store:
        assert store.runs_of(DIGITS) == (a_run(),)


def test_a_preview_answers_as_the_store_would_if_it_were_kept(shared_url: str) -> None:
    fuller = replace(a_run("r2", 300.0), outcome=Outcome(50.0, train_loss=0.5), ended_at=310.0)
    with open_store(shared_url) as store:
        append(store, a_suggestion("s1", created_at=100.0))
        append(store, a_suggestion("s2", created_at=200.0))
        runs = (a_run("r1"), replace(fuller, outcome=Outcome(50.0), ended_at=300.0, fell_silent=True), a_run("e", identity=CIFAR))
        series = tuple(Series(run.run_id, "cpu_cores", (1.0, 2.0), (0.5, 0.6)) for run in runs[:2])
        store.record(Finished(runs, watermark=5.0, series=series), now=400.0, identity=DIGITS, source="csv")
        store.save_agent("digits", b"\0state", expected_version=0)

    def told(store: Store) -> list[object]:
        new = a_run("läuft\0\x1a", 320.0, given_by="s1")
        series = (Series("r1", "memory_gib", (1.0,), (2.0,)), Series(new.run_id, "cpu_cores", (1.0,), (0.25,)))
        told: list[object] = [store.record(Finished((fuller, new, a_run()), series=series), now=500.0)]
        told.append(store.record(Finished((), watermark=9.0), now=500.0, identity=DIGITS, source="csv"))
        store.take_over(DIGITS, "csv", "server")
        store.withdraw("s2", AuditEvent("conflict", 501.0, DIGITS, {"suggestion_id": "s2"}))
        append(store, a_suggestion("s3", created_at=330.0))
        told += [store.save_agent("digits", b"\\x00", expected_version=1), store.load_agent("digits"), store.readings(DIGITS)]
        told += [store.recorded_runs(), store.recorded_runs(DIGITS, limit=2), store.numbers_of_runs(), store.suggestions_of()]
        told += [store.series_of(run) for run in (a_run(), fuller, new)]
        told += [store.forget_runs(CIFAR, newest=0, now=502.0), store.forget_series(ended_before=250.0, now=503.0)]
        return [*told, store.run("r2"), store.audit_records(), verify(store)]

    with open_store(shared_url, read_only=True) as preview:
        previewed = told(preview)
    with open_store(shared_url) as store:
        assert previewed == told(store)


def test_a_withdrawn_suggestion_is_followed_by_no_run_and_listed_no_more(store: Store) -> None:
    store.append(a_suggestion("s1", created_at=100.0), config="c", source_digest="d")
    store.withdraw("s1", AuditEvent("conflict", 101.0, DIGITS, {"suggestion_id": "s1"}))
    assert store.suggestions_of() == ()
    assert store.suggestion("s1").suggestion_id == "s1"
    store.record(
        Finished((a_run("r1", parameters=dict(a_suggestion().values.suggested), started_at=200.0, ended_at=300.0),)), now=400.0
    )
    assert [known.suggestion_id for known in store.recorded_runs()] == [None]
    assert store.audit_records()[-2].kind == "conflict"
    assert verify(store).ok


def test_the_newest_change_is_found_behind_any_number_of_kept_answers(store: Store) -> None:
    assert store.newest_change(DIGITS) is None
    store.append(a_suggestion("s1", created_at=100.0), config="c", source_digest="d")
    for n in range(30):
        store.append(a_suggestion(f"k{n}", created_at=101.0 + n, status="kept", changes=()), config="c", source_digest="d")
    assert store.newest_change(DIGITS).suggestion_id == "s1"
    store.withdraw("s1", AuditEvent("conflict", 200.0, DIGITS))
    assert store.newest_change(DIGITS) is None


# --- hardware


def test_the_same_run_id_on_other_hardware_is_another_run_and_a_siblings(store: Store) -> None:
    elsewhere, other = replace(DIGITS, hardware="a100"), replace(CIFAR, hardware="a100")
    runs = [a_run(identity=DIGITS), a_run(identity=elsewhere), a_run("r2", 300.0, identity=elsewhere), a_run(identity=other)]
    store.record(Finished(tuple(runs), watermark=7.0), now=900.0, identity=elsewhere, source="csv")
    assert store.runs_of(DIGITS) == (runs[0],)
    assert store.runs_of(elsewhere) == store.siblings_of(DIGITS, limit=9) == tuple(runs[1:3])
    assert store.siblings_of(elsewhere, limit=9) == (runs[0],)
    assert store.siblings_of(DIGITS, limit=1) == (runs[2],), "the newest"
    assert store.readings(elsewhere)["csv"].read_until == 7.0
    assert "csv" not in store.readings(DIGITS)
    assert [record.identity for record in store.audit_records()] == [run.identity for run in runs]
    assert verify(store).ok


def test_suggestions_of_other_hardware_are_others(store: Store) -> None:
    elsewhere = a_suggestion("s2", identity=replace(DIGITS, hardware="a100"))
    append(store, a_suggestion())
    append(store, elsewhere)
    assert store.suggestion("s2") == elsewhere
    assert [made.suggestion_id for made in store.suggestions_of(DIGITS)] == ["s1"]
