from __future__ import annotations

from typing import TYPE_CHECKING

from jpo.plugins.launch.during.adjustment import Adjustment
from jpo.plugins.launch.project.engines import ledger_of
from jpo.plugins.launch.watching.account import deciding
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
