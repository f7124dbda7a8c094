from __future__ import annotations

from made import DIGITS, a_run, a_suggestion

from jpo.agent.budget import reference_values
from jpo.history import open_store
from jpo.history.following.followers import followed_up, trials
from jpo.records import Finished


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
        assert reference_values(followed_up(store, [recorded]), found) == found


def test_runs_of_trials_are_counted_and_no_others() -> None:
    made = [
        ("trial", "belief"),
        ("improvement", "sac"),
        ("trial", "user"),
        ("trial", "recovery"),
        ("return", "belief"),
        ("trial", "sac"),
    ]
    with open_store("sqlite://") as store:
        for at, (kind, by) in enumerate(made):
            changes = {"kind": kind, "decided_by": by, "suggested": {"batch_size": 64.0 + at, "learning_rate": 0.1}}
            store.append(a_suggestion(f"s{at}", 100.0 * at + 50, **changes), config="config.ini", source_digest="ab")
            run = a_run(f"r{at}", 100.0 * at + 90, started_at=100.0 * at + 60, parameters=changes["suggested"])
            store.record(Finished((run,)), now=100.0 * at + 95)
        recorded = sorted(store.recorded_runs(DIGITS), key=lambda entry: entry.run.ended_at)
        assert all(entry.suggestion_id for entry in recorded)
        assert trials(store, recorded) == 2
        assert trials(store, recorded[:-1]) == 1
