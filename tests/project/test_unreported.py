from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from made import a_suggestion

from jpo.history import RecordedRun, Store
from jpo.project.settings import Settings
from jpo.project.unreported import UNMEASURED, placed, unmeasured, unreported
from jpo.records import Identity, Note, Outcome, Parameter, Run, RunStatus, Suggestion, Word, Workload

JOB = Identity("digits", "cnn", "pytorch")
BATCH = Parameter("batch_size", "t.batch_size", 32.0, "32", 1)
DROPOUT = Parameter("dropout", "m.dropout", 0.1, "0.1", 2)
OPTIMIZER = Parameter("optimizer", "t.optimizer", Word("sgd"), "sgd", 3)


class Suggestions(Store):
    """A store that has made these suggestions: (when, what)."""

    def __init__(self, *made: tuple[float, dict[str, float]]) -> None:
        self._made = made

    def suggestions_of(self, identity: Identity | None = None, *, limit: int | None = None) -> tuple[Suggestion, ...]:
        return tuple(_suggestion(at, values) for at, values in self._made)


def _suggestion(at: float, values: dict[str, float]) -> Suggestion:
    return a_suggestion(created_at=at, suggested=values)


def workload(*parameters: Parameter) -> Workload:
    return Workload(JOB, parameters, Path("config.ini"), b"")


def run(start: float, **values: float) -> RecordedRun:
    made = Run(f"r{start:g}", JOB, {"batch_size": 32.0, **values}, RunStatus.SUCCEEDED, start, start + 10, Outcome(), "csv")
    return RecordedRun(made, None, start)


def test_without_own_parameters_runs_stay_as_they_are() -> None:
    runs = (run(1), run(2))
    assert placed(runs, Suggestions(), workload(BATCH)).recorded == runs


def test_a_run_has_what_the_newest_suggestion_before_it_left_in_the_file() -> None:
    store = Suggestions((10, {"batch_size": 32.0, "dropout": 0.2}), (20, {"batch_size": 32.0, "dropout": 0.3}))
    told = placed((run(5), run(15), run(25), run(30, dropout=0.4)), store, workload(BATCH, DROPOUT))
    assert [(entry.run.parameters["dropout"], entry.run.assumed) for entry in told.recorded] == [
        *((0.2, ("dropout",)), (0.3, ("dropout",)), (0.4, ())),
    ]
    assert [(run.run_id, run.identity.hardware) for run in told.elsewhere] == [("r5", "an unknown dropout")]
    assert told.elsewhere[0].identity.is_sibling_of(JOB)
    assert [note.text[:27] for note in told.notes] == ["1 run did not report dropou"]


def test_a_word_where_a_number_is_by_now_is_not_known() -> None:
    store = Suggestions((10, {"optimizer": 3.0}))
    told = placed((run(5, optimizer=2.0), run(15), run(16, optimizer=Word("adam"))), store, workload(BATCH, OPTIMIZER))
    assert [str(entry.run.parameters["optimizer"]) for entry in told.recorded] == ["adam"]
    assert len(told.elsewhere) == 2


def test_what_may_not_change_need_not_be_reported() -> None:
    held = replace(DROPOUT, held=Note("", "frozen in jpo.toml"))
    assert len(placed((run(5),), Suggestions(), workload(BATCH, held)).recorded) == 1


def test_a_quality_that_no_run_measures_is_named_with_what_they_measure() -> None:
    renamed = Settings.model_validate({"metric": {"name": "f1_macro", "direction": "max"}, "sla": {"accuracy_min": 0.9}})
    ran = [replace(run(1.0).run, outcome=Outcome(metrics={"f1": 0.8}))]
    assert unmeasured(renamed, ran) == [
        Note(UNMEASURED, f"no finished run has measured {name} ({place}), so it does not count", name)
        for name, place in [
            ("val_accuracy", "[sla] accuracy_min speaks"),
            ("f1_macro", "[metric] name speaks (runs measure f1)"),
        ]
    ]
    assert unmeasured(renamed, []) == unmeasured(Settings(), []) == []
    known = replace(ran[0], outcome=Outcome(val_accuracy=0.9, metrics={"f1_macro": 0.8}))
    assert unmeasured(renamed, [*ran, known]) == []


def test_a_validation_loss_that_is_not_above_zero_is_named() -> None:
    (note,) = unmeasured(Settings(), [replace(run(1.0).run, outcome=Outcome(val_loss=loss)) for loss in (-3.0, 0.5)])
    assert note.text.startswith("val_loss is 0 or below in 1 of 2 runs that ended well; it does not count there: report it under")


def test_metrics_that_nothing_names_are_said_to_judge_no_model() -> None:
    ran = [replace(run(1.0).run, outcome=Outcome(metrics={"mae": 0.2}))]
    (note,) = unmeasured(Settings(), ran)
    assert (note.code, '[metric] name = "mae"' in note.text) == (UNMEASURED, True)
    assert unmeasured(Settings(), [replace(ran[0], outcome=Outcome(val_loss=0.1, metrics={"mae": 0.2}))]) == []
    assert unmeasured(Settings.model_validate({"metric": {"name": "mae", "direction": "min"}}), ran) == []


def test_the_newest_run_that_does_not_report_its_batch_is_named() -> None:
    silent = replace(run(2.0).run, parameters={})
    (note,) = unreported(workload(BATCH, DROPOUT), [run(1.0).run, silent])
    assert (note.code, "did not report batch_size (t.batch_size):" in note.text) == ("JPO-W128", True)
    assert unreported(workload(BATCH), [silent, run(3.0).run]) == unreported(workload(BATCH), []) == []
    assert unreported(workload(replace(BATCH, held=Note("", "frozen"))), [silent]) == []
    assert unreported(workload(BATCH), [replace(silent, source="kubernetes")]) == []
