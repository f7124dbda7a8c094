"""A published suggestion read again says the same; what is none is refused in one line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from noted import NEXT, NOW, note, suggested

from jpo.errors import UsageError
from jpo.plugins.ci.report import comment
from jpo.plugins.ci.report.comment import Comment
from jpo.plugins.ci.report.published import read_report
from jpo.records import Change, Interval, SlaCheck
from jpo.records.words import Word
from jpo.report import suggestion as report


def published(tmp_path: Path, **changed: Any) -> Path:
    made = suggested(sla=(SlaCheck("time_max", 90.0, "at risk"),))
    document = json.loads(json.dumps(report.as_json(note(made).report)))
    file = tmp_path / "suggestion.json"
    file.write_text(json.dumps({**document, **changed}))
    return file


def test_the_note_of_a_file_is_the_note_of_what_it_was_made_of(tmp_path: Path) -> None:
    made = suggested(sla=(SlaCheck("time_max", 90.0, "at risk"),))
    assert comment.body(Comment(read_report(published(tmp_path)))) == comment.body(note(made))


def test_words_and_metrics_of_the_users_own_are_read_again(tmp_path: Path) -> None:
    words = Change("optimizer", "training.optimizer", Word("sgd"), Word("adam"), "sgd", "adam", "2 runs at adam", 0.9)
    better = replace(NEXT, val_accuracy=Interval(0.9, 0.88, 0.92), metrics={"bleu": Interval(31.0, 30.0, 32.0)})
    today = replace(NOW, val_accuracy=Interval(0.89, 0.88, 0.9), metrics={"bleu": Interval(29.0, 28.0, 30.0)})
    made = suggested(
        changes=(words,),
        current={"optimizer": Word("sgd")},
        suggested={"optimizer": Word("adam")},
        now=today,
        next=better,
        sla=(SlaCheck("bleu_min", 30.0, "ok"),),
        difference={"bleu": Interval(2.0, -0.5, 3.0)},
    )
    file = tmp_path / "suggestion.json"
    file.write_text(json.dumps(report.as_json(note(made).report)))
    text = comment.body(Comment(read_report(file)))
    assert text == comment.body(note(made))
    assert "| `training.optimizer` | sgd | **adam** | 2 runs at adam |" in text
    assert "| bleu | +2 (-0.5 to +3) | ≥ 30 | ok |" in text


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"schema_version": 2}, "schema_version"),
        ({"unknown": 1}, "unknown: Extra inputs are not permitted"),
        ({"config": "/builds/\0/config.ini"}, "which no file can be called"),
        ({"status": "::error::x"}, "status"),
        ({"sla": [{"name": "@admin", "limit": 1, "verdict": "ok"}]}, "'@admin', which is none"),
        ({"preference": {"time": 3}}, "weights must be in 0..1"),
        ({"confidence": 1e308}, "the number 1e+308, which nothing of a run can be"),
        ({"current": {"x": 10**300}}, "the number 1e+300"),
        ({"changes": [{}]}, "changes.0.parameter: Field required"),
    ],
)
def test_what_is_no_suggestion_is_refused(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_report(published(tmp_path, **changed))
    assert caught.value.code == "JPO-E908"
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": NaN}', "[" * 100_000, '{"a": 1, "a": 2}', "\x00"])
def test_what_is_no_json_object_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "suggestion.json"
    file.write_text(text)
    with pytest.raises(UsageError, match="write it with") as caught:
        read_report(file)
    assert caught.value.code == "JPO-E908"
