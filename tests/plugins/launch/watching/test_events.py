from __future__ import annotations

from typing import TYPE_CHECKING

from jpo.plugins.launch.during.adjustment import Adjustment
from jpo.plugins.launch.project.place import ledger_of
from jpo.plugins.launch.watching.account import FILE, deciding
from jpo.plugins.launch.watching.events import adjustments

if TYPE_CHECKING:
    from opened_repository import Repository


def test_what_was_decided_about_a_run_is_an_event_of_it(repository: Repository) -> None:
    _, settings = repository()
    assert list(adjustments(settings, ["run-1"])) == []
    with deciding(ledger_of(settings), "run-1") as made:
        made.append(Adjustment(100.0, "it cannot win any more"))
    (event,) = adjustments(settings, ["run-1"])
    assert (event.run_id, event.kind) == ("run-1", "adjustments")
    assert "stop: it cannot win any more" in event.sentence
    assert event.document["at"] == 100.0
    assert list(adjustments(settings, ["run-2"])) == []


def test_the_decisions_of_runs_are_found_and_what_is_damaged_is_left_out(repository: Repository) -> None:
    _, settings = repository()
    for run_id in ("night-1", "night-2", "other"):
        with deciding(ledger_of(settings), run_id) as made:
            made.append(Adjustment(100.0, "why"))
    (ledger_of(settings) / "night-2" / "watch" / FILE).write_text("{")
    (event,) = adjustments(settings, {"night-1", "night-2"})
    assert (event.run_id, event.document["why"]) == ("night-1", "why")
