from __future__ import annotations

from pathlib import Path

from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob
from jpo.plugins.launch.ledger import Entry
from jpo.plugins.launch.report.launched.run import LaunchReport, as_json, document
from jpo.records import Identity, Outcome, Run, RunStatus
from jpo.records.notes import Note
from jpo.report.forms import text

DIGITS = Identity("digits", "cnn", "pytorch")
JOB = LaunchJob("run-1", DIGITS, ("python", "train.py"), Path("/x"), parameters={"batch_size": 64.0})
END = JobStatus(JobState.ENDED, 0, RunStatus.SUCCEEDED, "", "here", 990.0, 1100.0)


def run(name: str, seconds: float, loss: float | None) -> Run:
    outcome = Outcome(duration_seconds=seconds, val_loss=loss)
    return Run(name, DIGITS, {}, RunStatus.SUCCEEDED, 1000.0, 1000.0 + seconds, outcome, "csv")


def ended() -> LaunchReport:
    return LaunchReport(
        Entry(JOB, "local", 0.0, "id", END),
        Path("/x/output.log"),
        (Note("JPO-W775", "Look at this"),),
        run=run("run-1", 100.0, 0.5),
        before=run("run-0", 120.0, None),
        costs=(0.25, 0.5),
        log=Path("/x/run-1.csv"),
    )


def test_a_run_is_told_beside_the_last_one() -> None:
    shown = text.render(document(ended()), width=100, colour=False)
    assert "Run run-1 of digits/cnn/pytorch on local: succeeded" in shown
    assert "1m 40s" in shown
    assert "2m 00s" in shown
    assert "0.25 USD" in shown
    assert "Look at this [JPO-W775]" in shown


def test_what_is_not_started_says_what_would_be() -> None:
    report = LaunchReport(Entry(JOB, "local", 0.0), Path("/x/output.log"))
    assert "not started" in text.render(document(report), width=100, colour=False)
    assert "python train.py" in text.render(document(report), width=100, colour=False)
    found = as_json(report)
    assert (found["state"], found["outcome"], found["exit_code"]) == ("not started", None, None)


def test_of_a_run_that_goes_on_by_itself_it_says_how_to_follow_it() -> None:
    report = LaunchReport(Entry(JOB, "local", 0.0, "id"), Path("/x/output.log"))
    assert as_json(report)["state"] == "submitted"
    assert "`jpo watch run-1` follows it" in text.render(document(report), width=100, colour=False)


def test_programs_get_all_of_it() -> None:
    found = as_json(ended())
    assert found["outcome"] == {"duration_seconds": 100.0, "val_loss": 0.5, "cost_usd": 0.25}
    assert found["last_run"] == {"run_id": "run-0", "duration_seconds": 120.0, "cost_usd": 0.5}
    assert found["notes"] == [{"text": "Look at this", "code": "JPO-W775"}]
