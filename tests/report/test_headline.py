from __future__ import annotations

from jpo.records import LOSS_KEPT, Checkout, Note
from jpo.records.from_plugins import Queued
from jpo.report import headline
from tests.made import a_suggestion, altered

TRIAL = Note("JPO-I604", "it was not run yet")


def test_a_trial_says_what_its_confidence_is_about_and_the_chance_that_it_leaves_out() -> None:
    known = a_suggestion("s1")
    trial = altered(known, reasons=(TRIAL,))
    assert headline.of(known) == ""
    assert headline.of(trial) == " that it ends well and is no more than a tenth worse"
    both = " that it ends well and costs no more than a tenth more, 61% that it keeps the loss"
    assert headline.of(altered(trial, seen={LOSS_KEPT: 0.61})) == both
    assert headline.of(altered(trial, reasons=(Note("JPO-I640", "it is better"), TRIAL))) == " that it lowers the validation loss"


def test_what_was_done_is_told_by_the_file_that_was_there() -> None:
    made = a_suggestion("s1")
    kept = altered(made, status="kept", suggested=made.values.current, changes=())
    assert headline.what_was_done(made, written=True) == "1 value written"
    assert headline.what_was_done(made, written=False) == "1 value not written"
    assert headline.what_was_done(kept, written=False) == "kept as it is"
    older = Checkout("config.ini", None, {"batch_size": 16.0, "learning_rate": 0.1})
    assert headline.what_was_done(altered(made, checkout=older), written=True) == "1 value written"
    assert headline.what_was_done(altered(kept, checkout=older), written=True) == "the values in force are kept, and written"
    back = Checkout("config.ini", None, dict(made.values.suggested))
    assert headline.what_was_done(altered(made, checkout=back), written=True) == "1 value back at what the file has"


def test_when_a_run_is_done_is_said_with_its_start() -> None:
    assert headline.done_by(Queued("slurm", 720.0, 0.0)) == "done by 1970-01-01 00:00 UTC (starts in 12m 00s, says slurm)"
    assert headline.done_by(Queued("slurm", 0.0, None)) == "starts at once, says slurm"
