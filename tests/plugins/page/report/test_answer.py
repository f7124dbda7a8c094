"""The answer first: what JPO brought, and where it cost more."""

from __future__ import annotations

from dataclasses import replace

from plugins.page.report.sample import REVIEW, WORKLOAD

from jpo.history.figures import spread
from jpo.optimizer.before_and_after import Spent
from jpo.plugins.page.report.answer import answer
from jpo.plugins.page.savings import Saved
from jpo.records import Interval, RunStatus
from jpo.report.document import spans

DEARER = replace(
    WORKLOAD,
    saved=(Saved("duration_seconds", 90.0, 3, 2, 1, 290.0, Interval(-200.0, -260.0, -140.0)), WORKLOAD.saved[1]),
    decisions=(replace(WORKLOAD.decisions[0], spent=Spent(180.0, None, None, 2)),),
)
UNTUNED = replace(WORKLOAD, change=replace(WORKLOAD.change, first_change=None))


def said(*workloads: object) -> str:
    review = replace(REVIEW, workloads=workloads)
    return "".join(part.text for part in spans(answer(review)))


def test_what_jpo_brought_is_one_sentence() -> None:
    assert said(WORKLOAD) == "1 job tuned. Time saved: 31s (20s to 42s)."


def test_a_loss_is_said_with_its_reason_and_what_to_do() -> None:
    text = said(WORKLOAD, DEARER)
    assert text.startswith("2 jobs tuned.")
    assert "1 of them takes more than before: digits/cnn/pytorch (3m 00s of it by trial batch" in text
    assert "`jpo rollback s1` puts the values from before back" in text
    assert [part.emphasis for part in spans(answer(replace(REVIEW, workloads=[DEARER])))][-1] == "bad"


def test_what_is_no_longer_in_force_is_not_to_be_undone() -> None:
    """`jpo rollback` would bring it back, where the newest change undid it."""
    before = replace(DEARER, today={"batch_size": 32.0})
    text = said(before)
    assert "It takes more than before" in text
    assert "the values from before are in force again" in text
    assert "its values are no longer in force" in said(replace(DEARER, today={"batch_size": 128.0}))
    assert "rollback" not in text


def test_a_loss_by_runs_without_a_model_asks_for_a_look_first() -> None:
    none = replace(DEARER.decisions[0], actual=spread([]))
    assert "no model came of it, `jpo explain s1` says why" in said(replace(DEARER, decisions=(none,)))


def test_a_faster_job_of_which_runs_were_stopped_from_outside_is_not_told_to_go_back() -> None:
    (good, bad) = DEARER.runs
    outcome = replace(bad.past.recorded.run.outcome, duration_seconds=210.0)
    run = replace(bad.past.recorded.run, status=RunStatus.STOPPED, outcome=outcome)
    stopped = replace(bad, past=replace(bad.past, recorded=replace(bad.past.recorded, run=run), ending="stopped"))
    text = said(replace(DEARER, runs=(good, stopped)))
    assert "(1 run stopped from outside took 3m 30s and brought no model; all others together took less than before)" in text
    by_jpo = replace(stopped, past=replace(stopped.past, ending="stopped by JPO"))
    assert "`jpo rollback s1`" in said(replace(DEARER, runs=(good, by_jpo)))


def test_a_loss_that_chance_could_explain_is_none() -> None:
    unclear = replace(DEARER, saved=(Saved("duration_seconds", 90.0, 3, 2, 1, 100.0, Interval(-10.0, -60.0, 40.0)),))
    assert "more than before" not in said(unclear)


def test_a_change_is_charged_with_the_nights_that_kept_its_values() -> None:
    made = WORKLOAD.decisions[0]
    kept = replace(made, suggestion=replace(made.suggestion, suggestion_id="s2", changes=()), spent=Spent(60.0, 0.0, 1.0, 1))
    assert "(4m 00s of it by trial batch" in said(replace(DEARER, decisions=(*DEARER.decisions, kept)))


def test_what_is_not_tuned_and_what_is_not_known_is_said() -> None:
    unknown = replace(WORKLOAD, saved=[replace(saved, saved=None) for saved in WORKLOAD.saved])
    review = replace(REVIEW, workloads=(unknown, UNTUNED), saved={"duration_seconds": None})
    assert "".join(part.text for part in spans(answer(review))).startswith(
        "1 of 2 jobs tuned. What that saved is unknown: too few"
    )


def test_without_a_change_it_says_so() -> None:
    assert said(UNTUNED) == "JPO changed nothing yet."


def test_the_largest_loss_comes_first() -> None:
    worse = Saved("duration_seconds", 90.0, 3, 2, 1, 990.0, Interval(-900.0, -960.0, -840.0))
    other = replace(DEARER, identity=replace(DEARER.identity, model="worse"), saved=(worse, DEARER.saved[1]))
    text = said(DEARER, other)
    assert text.index("digits/worse/pytorch") < text.index("digits/cnn/pytorch")
