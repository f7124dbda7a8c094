"""Whatever was suggested, edited by hand and rolled back: the values from before any suggestion come back to the byte."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made import DIGITS, a_run, a_suggestion

from jpo import config
from jpo.config import edits_of
from jpo.history import AuditEvent, Store, open_store
from jpo.history.undo import last_in_force, on_probation, on_record, pin_notes, pinned, pins, restored, took_effect, undo
from jpo.project.load import load
from jpo.project.proposal import executed_with
from jpo.project.workload import read_workload
from jpo.records import Change, Edit, Identity, Suggestion, Undo, Workload, texts_of

FILE = b"""\xef\xbb\xbf; who touches this file pays a round\r
[workload]\r
dataset = digits\r
model : cnn\r
framework=pytorch\r
\r
[training]\r
batch_size = 6.4e1   # 64, as in the paper\r
learning_rate=1e-3\r
epochs :\t40\r
[resources]
cpus = +2.50	; \xc3\xbcber den Daumen
memory = 64 GB
"""
VALUES = {
    "batch_size": st.sampled_from([1, 16, 48, 64, 4096]).map(float),
    "learning_rate": st.sampled_from([0.1, 0.001, 1e-4, 0.0125]),
    "epochs": st.integers(1, 200).map(float),
    "cpus": st.sampled_from([1, 2.5, 7, 32]).map(float),
    "memory_gib": st.sampled_from([0.5, 16, 59.604644775390625, 100]).map(float),
}
TEXTS = {
    "batch_size": ["32", "64", "3.2E1"],
    "learning_rate": ["0.10", ".1", "1e-03"],
    "cpus": ["2.50", "3"],
    "memory_gib": ["1Ti"],
}

change_values = st.fixed_dictionaries({}, optional=VALUES)
steps = st.one_of(
    st.tuples(st.just("suggest"), change_values),
    st.tuples(st.just("suggest"), change_values),
    st.tuples(st.just("back"), st.integers(0, 20)),
    st.tuples(st.just("hand"), st.sampled_from([(name, text) for name, texts in TEXTS.items() for text in texts])),
)


class Checkout:
    """A config.ini and its store, changed as the commands do it."""

    def __init__(self, path: Path) -> None:
        self.path, self.store, self.number = path, open_store("sqlite://"), 0
        self.before: dict[str, bytes] = {}
        path.write_bytes(FILE)

    def read(self, content: bytes | None = None) -> Workload:
        if content is not None:
            (old := self.path.with_name("old.ini")).write_bytes(content)
            return read_workload(old, load(old, None, {}, {}), now=0.0)
        return read_workload(self.path, load(self.path, None, {}, {}), now=0.0)

    def suggest(self, values: dict[str, float]) -> None:
        workload = self.read()
        self.write(workload, edits_of(workload, {**workload.current, **values}, {}), None)

    def back(self, to: str) -> None:
        workload, found = self.read(), self.undo(to)
        self.write(workload, edits_of(workload, workload.current, found.texts if found else {}), to)

    def undo(self, to: str) -> Undo | None:
        return undo(self.effective(), to)

    def effective(self) -> tuple[Suggestion, ...]:
        suggestions, written = on_record(self.store, DIGITS)
        return took_effect(suggestions, self.read().current, written)

    def write(self, workload: Workload, edits: tuple[Edit, ...], undoes: str | None) -> None:
        self.number += 1
        after = executed_with(workload, edits)
        name_of = {p.key: p.name for p in workload.parameters}
        changes = tuple(
            Change(name := name_of[e.key], e.key, workload.current[name], after[name], e.old_text, e.new_text, "", None)
            for e in edits
        )
        decided_by, status = "rollback" if undoes else "sac", "changed" if edits else "kept"
        told = {"current": workload.current, "suggested": after, "changes": changes, "undoes": undoes, "decided_by": decided_by}
        append(self.store, a_suggestion(f"s{self.number}", -self.number, status=status, **told), written=bool(edits))
        self.before[f"s{self.number}"] = workload.content
        self.path.write_bytes(config.edited(workload.content, "config.ini", edits))

    def by_hand(self, name: str, text: str) -> None:
        workload = self.read()
        p = workload.parameter(name)
        self.path.write_bytes(config.edited(workload.content, "config.ini", [Edit(p.key, p.line, p.text, text)]))


def append(store: Store, suggestion: Suggestion, *, written: bool = True) -> None:
    store.append(suggestion, config="config.ini", source_digest=hashlib.sha256(b"").hexdigest())
    if written:
        store.audit(AuditEvent("written", 0.0, suggestion.identity, {"suggestion_id": suggestion.suggestion_id}))


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "config.ini")


SLOW_FIXTURE = [HealthCheck.function_scoped_fixture]


@settings(max_examples=60, suppress_health_check=SLOW_FIXTURE)
@given(st.lists(steps, min_size=1, max_size=20))
def test_back_to_before_any_suggestion_every_byte_that_jpo_changed_is_as_it_was(tmp_path: Path, taken: list) -> None:
    checkout, hands = Checkout(tmp_path / "config.ini"), {}
    for step, how in taken:
        hands[f"s{checkout.number + 1}"] = 0
        if step == "suggest":
            checkout.suggest(how)
        elif step == "hand":
            checkout.by_hand(*how)
            hands = {name: count + 1 for name, count in hands.items()}
        elif checkout.before:
            checkout.back(sorted(checkout.before)[how % len(checkout.before)])
    now = checkout.read()
    for suggestion_id, then in checkout.before.items():
        found = checkout.undo(suggestion_id)
        texts = found.texts if found else {}
        if not hands[suggestion_id]:
            assert config.edited(now.content, "c", edits_of(now, now.current, texts)) == then
        for name, text in texts.items():  # where hands took part: what stood there before JPO touched it
            first = next(one for one in found.undone if name in {change.parameter for change in one.changes})
            assert checkout.read(checkout.before[first.suggestion_id]).parameter(name).text == text


@settings(max_examples=25, suppress_health_check=SLOW_FIXTURE)
@given(st.lists(steps.filter(lambda step: step[0] != "hand"), max_size=12))
def test_rolled_back_until_nothing_is_in_force_the_file_is_the_one_from_the_start(tmp_path: Path, taken: list) -> None:
    checkout = Checkout(tmp_path / "config.ini")
    for step, how in taken:
        if step == "suggest":
            checkout.suggest(how)
        elif checkout.before:
            checkout.back(sorted(checkout.before)[how % len(checkout.before)])
    for _ in range(len(taken) + 1):
        newest = last_in_force(checkout.effective())
        if newest is None:
            break
        checkout.back(newest.suggestion_id)
    assert last_in_force(checkout.effective()) is None
    assert checkout.path.read_bytes() == FILE


def test_each_rollback_takes_back_one_change_more_and_its_own_id_brings_it_again(checkout: Checkout) -> None:
    for batch_size in (16.0, 48.0):
        checkout.suggest({"batch_size": batch_size})
    in_force = [last_in_force(checkout.effective())]
    for _ in range(2):
        assert in_force[-1] is not None
        checkout.back(in_force[-1].suggestion_id)
        in_force.append(last_in_force(checkout.effective()))
    assert [one and one.suggestion_id for one in in_force] == ["s2", "s1", None]
    checkout.back("s3")  # the first rollback
    assert checkout.read().current["batch_size"] == 48
    newest = last_in_force(checkout.effective())
    assert newest is not None
    assert newest.suggestion_id == "s2"


LATER = Change("learning_rate", "training.lr", 0.1, 0.2, "0.1", "0.2", "", None)
A = a_suggestion("a", current={"batch_size": 32.0, "learning_rate": 0.1})
HELD, OTHER = {"batch_size": 64.0, "learning_rate": 0.1}, {"batch_size": 32.0, "learning_rate": 0.1}


def test_a_change_of_which_nobody_said_that_it_was_written_counts_if_the_file_held_it_when_it_was_read_next() -> None:
    assert took_effect([A], HELD) == (A,)
    assert took_effect([A], OTHER) == ()
    assert took_effect([A], OTHER, {"a"}) == (A,)
    then = a_suggestion("b", status="kept", changes=(), current=HELD)
    assert took_effect([A, then], OTHER) == (A, then)
    assert took_effect([A, a_suggestion("b", status="kept", changes=(), current=OTHER)], HELD)[0].suggestion_id == "b"
    assert took_effect([], OTHER) == ()


def test_a_rollback_that_found_the_old_values_counts_unless_this_file_has_the_new_ones() -> None:
    found = a_suggestion("r", status="kept", changes=(), current=OTHER, suggested=OTHER, undoes="a", decided_by="rollback")
    assert took_effect([A, found], OTHER, {"a"}) == (A, found)
    assert took_effect([A, found], HELD, {"a"}) == (A,)
    back = a_suggestion("b", changes=(Change("batch_size", "training.batch_size", 64, 32, "64", "32", "", None),), undoes="a")
    assert took_effect([A, back, found], OTHER, {"a", "b"}) == (A, back, found)  # nothing was left to undo


def test_the_order_is_the_logs_where_clocks_differ() -> None:
    store = open_store("sqlite://")
    for number, at in (("first", 300.0), ("second", 100.0)):
        append(store, a_suggestion(number, at), written=number == "first")
    append(store, a_suggestion("other", identity=Identity("d", "m", "f")))
    suggestions, written = on_record(store, DIGITS)
    assert ([one.suggestion_id for one in suggestions], written) == (["first", "second"], {"first"})


def probation(checkout: Checkout, decided_by: str = "sac", runs: int = 1, batch_size: float = 16.0) -> Undo | None:
    checkout.suggest({"batch_size": 16.0})
    workload = checkout.read()
    store = open_store("sqlite://")
    append(store, a_suggestion("s", 100.0, **{**checkout_told(checkout), "decided_by": decided_by}))
    ran = [a_run(f"r{n}", 1000.0 + n, parameters={**workload.current, "batch_size": batch_size}) for n in range(runs)]
    return on_probation(store, workload, ran)


def checkout_told(checkout: Checkout) -> dict:
    one = checkout.store.suggestion("s1")
    return {"current": one.values.current, "suggested": one.values.suggested, "changes": one.changes}


def test_the_last_change_is_on_probation_for_its_first_runs(checkout: Checkout) -> None:
    found = probation(checkout)
    assert found is not None
    assert (found.suggestion_id, found.texts, found.values) == ("s", {"batch_size": "6.4e1"}, {"batch_size": 64.0})


@pytest.mark.parametrize("told", [{"decided_by": "user"}, {"runs": 0}, {"runs": 6}, {"batch_size": 17.0}])
def test_what_a_user_set_or_was_not_run_or_often_is_not(checkout: Checkout, told: dict) -> None:
    assert probation(checkout, **told) is None


def test_a_value_that_someone_has_set_since_is_not_undone_by_itself(checkout: Checkout) -> None:
    checkout.suggest({"batch_size": 16.0})
    checkout.by_hand("batch_size", "17")
    runs = [a_run(parameters=checkout.read().current)]
    assert on_probation(checkout.store, checkout.read(), runs) is None


def test_the_same_step_is_taken_back_once(checkout: Checkout) -> None:
    for _ in range(2):
        checkout.suggest({"batch_size": 16.0})
        runs = [a_run(parameters=checkout.read().current)]
        found = on_probation(checkout.store, checkout.read(), runs)
        if found is not None:
            checkout.back(found.suggestion_id)
    assert found is None
    assert checkout.read().current["batch_size"] == 16
    assert [one.decision.decided_by for one in checkout.effective()] == ["sac", "rollback", "sac"]


def pin(store: Store, suggestion_id: str, at: float, **told: object) -> None:
    kept = {"status": "kept", "changes": (), "decided_by": "rollback"}
    append(store, a_suggestion(suggestion_id, at, **{**kept, "undoes": "s1", "pinned_until": 86400.0, **told}), written=False)


def test_a_pin_holds_what_was_restored_until_its_day_or_until_it_is_lifted() -> None:
    store = open_store("sqlite://")
    append(store, a_suggestion("s1"))
    assert pins(store, DIGITS, now=0.0) == {}
    pin(store, "r1", 200.0, suggested={"batch_size": 32.0, "learning_rate": 0.1})
    assert pins(store, DIGITS, now=300.0) == {"batch_size": (32.0, "pinned until 1970-01-02 by rollback r1")}
    assert pins(store, DIGITS, now=86400.0) == {}
    pin(store, "r2", 400.0, undoes=None, pinned_until=None)
    assert pins(store, DIGITS, now=500.0) == {}


def test_a_pin_holds_a_parameter_only_where_it_has_the_pinned_value(checkout: Checkout) -> None:
    append(checkout.store, a_suggestion("s1"), written=False)
    pin(checkout.store, "r1", 200.0, suggested={"batch_size": 64.0})
    workload = pinned(checkout.read(), checkout.store, now=300.0)
    assert texts_of(pin_notes(workload)) == ("training.batch_size = 6.4e1 is pinned until 1970-01-02 by rollback r1",)
    checkout.by_hand("batch_size", "65")
    assert pin_notes(pinned(checkout.read(), checkout.store, now=300.0)) == ()


@pytest.mark.parametrize(
    ("ahead", "missing", "found"), [(99.0, False, {"batch_size"}), (-99.0, False, {"batch_size"}), (0, True, set())]
)
def test_what_a_rollback_restored_is_known_although_clocks_differ_and_records_are_missing(
    ahead: float, missing: bool, found: set[str]
) -> None:
    store, back = open_store("sqlite://"), a_suggestion("r", 100.0 + ahead, undoes="a", changes=(), decided_by="rollback")
    for one in (back,) if missing else (A, back, a_suggestion("later", changes=(LATER,))):
        append(store, one)
    assert restored(store, back) == found


def test_pins_are_lifted_also_where_the_clock_went_back_since() -> None:
    store = open_store("sqlite://")
    append(store, A)
    pin(store, "r1", 5000.0, undoes="a", suggested={"batch_size": 32.0})
    pin(store, "r2", 400.0, undoes=None, pinned_until=None)
    assert pins(store, DIGITS, now=500.0) == {}


def test_a_value_whose_key_was_renamed_since_is_not_undone_by_itself(checkout: Checkout) -> None:
    """14.9 GiB are `memory_gb = 16`; 8 under `memory_mb` would be megabytes."""
    checkout.path.write_bytes(FILE.replace(b"memory = 64 GB", b"memory_gb = 8"))
    checkout.suggest({"memory_gib": 16e9 / 2**30})
    runs = [a_run(parameters=checkout.read().current)]
    assert on_probation(checkout.store, checkout.read(), runs) is not None
    checkout.path.write_bytes(checkout.path.read_bytes().replace(b"memory_gb = 16", b"memory_mb = 16000"))
    assert checkout.read().current["memory_gib"] == runs[0].parameters["memory_gib"]
    assert on_probation(checkout.store, checkout.read(), runs) is None
