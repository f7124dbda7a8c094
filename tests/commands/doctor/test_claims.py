"""What suggestions claimed, held against the runs that followed them."""

from __future__ import annotations

from dataclasses import replace

from commands.doctor.diagnosis import diagnosis
from made import a_run, a_suggestion, altered
from user_project import Project

from jpo.commands.doctor.claims import BETTER, DEARER, KEPT, WELL, came_true, line
from jpo.cost import Prices
from jpo.records import VAL_LOSS, Outcome, Preference, Run, RunStatus, Seen, Suggestion

TODAY = {"batch_size": 32.0, "learning_rate": 0.1}


def took(seconds: float, loss: float = 0.5, batch_size: float = 32.0, **changes: object) -> Run:
    outcome = Outcome(duration_seconds=seconds, val_loss=loss)
    return replace(a_run(), parameters={**TODAY, "batch_size": batch_size}, outcome=outcome, **changes)


def made(kind: str = "improvement", **changes: object) -> Suggestion:
    seen = {Seen.FAILS: 0.1, Seen.LOSS_KEPT: 0.8}
    return altered(a_suggestion(), kind=kind, confidence=0.9, seen=seen, preference=Preference(1, 0), reasons=(), **changes)


def claimed(
    suggestion: Suggestion, *after: Run, before: tuple[Run, ...] = (took(100), took(110))
) -> dict[str, tuple[float, bool]]:
    return dict(came_true(suggestion, before, after, Prices(), VAL_LOSS, 0.02))


def test_each_claim_has_its_chance_and_whether_it_came_true() -> None:
    assert claimed(made(), took(90)) == {WELL: (0.9, True), KEPT: (0.8, True), BETTER: (0.9, True)}
    assert claimed(made(), took(120))[BETTER] == (0.9, False)
    assert claimed(made("trial"), took(110))[DEARER] == (0.9, True)
    assert claimed(made("trial"), took(120))[DEARER] == (0.9, False)


def test_a_change_that_lost_quality_was_not_better() -> None:
    assert claimed(made(), took(90, loss=0.52)) == {WELL: (0.9, True), KEPT: (0.8, False), BETTER: (0.9, False)}


def test_a_run_that_failed_broke_the_claims_and_one_that_was_stopped_says_nothing() -> None:
    failed, stopped = took(9, status=RunStatus.FAILED), took(9, status=RunStatus.STOPPED)
    assert claimed(made(), failed) == {WELL: (0.9, False), BETTER: (0.9, False)}
    assert claimed(made(), stopped) == {}


def test_without_runs_of_todays_values_only_the_end_is_known() -> None:
    assert claimed(made(), took(90), before=(took(100, batch_size=16.0),)) == {WELL: (0.9, True)}


def test_too_few_cases_say_nothing_and_claims_above_what_came_are_a_warning() -> None:
    assert line(WELL, [(0.9, True)] * 4).status == "unknown"
    assert line(WELL, [(0.9, True)] * 9 + [(0.9, False)]).status == "ok"
    over = line(WELL, [(0.9, False)] * 10)
    assert (over.status, over.finding) == ("warning", "claimed 90%, came true 0% of 10 cases (0% to 21%)")


def test_before_any_change_was_followed_one_line_says_so(project: Project) -> None:
    project.jpo("observe")
    assert diagnosis(project)[1]["claims"]["finding"] == "no run has followed a change yet"
