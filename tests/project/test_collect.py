"""What is collected before a decision, as far as no command's own tests show it."""

from __future__ import annotations

from made import DIGITS, a_run, a_suggestion

from jpo.agent.budget import values_found
from jpo.history import open_store
from jpo.project.collect import followed_up, untried
from jpo.records import Finished

NOW = 1_700_000_000.0


def test_a_suggestion_dated_by_a_clock_far_ahead_is_not_waited_for() -> None:
    with open_store("sqlite://") as store:
        store.append(a_suggestion("s1", NOW - 60), config="config.ini", source_digest="ab")
        assert untried(store, DIGITS, (), now=NOW) is not None
        store.append(a_suggestion("s2", NOW + 86400), config="config.ini", source_digest="ab")
        assert untried(store, DIGITS, (), now=NOW) is None


def test_what_a_rollback_put_back_before_anything_was_run_is_no_step_of_the_agents() -> None:
    """Else a change that was taken back at once, and never run, would pass for what the agent found."""
    found, tried = {"batch_size": 32.0, "learning_rate": 0.1}, {"batch_size": 64.0, "learning_rate": 0.1}
    with open_store("sqlite://") as store:
        store.append(a_suggestion("s1", 100.0, current=found, suggested=tried), config="config.ini", source_digest="ab")
        back = a_suggestion("s2", 200.0, current=tried, suggested=found, undoes="s1", decided_by="rollback")
        store.append(back, config="config.ini", source_digest="ab")
        store.record(Finished((a_run("r1", 900.0, started_at=300.0, parameters=found),)), now=900.0)
        (recorded,) = store.recorded_runs(DIGITS)
        assert recorded.suggestion_id == "s2"
        assert values_found(followed_up(store, [recorded]), found) == found
