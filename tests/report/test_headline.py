from __future__ import annotations

from dataclasses import replace

from jpo.cost.price import Rented
from jpo.records import Checkout, Currency, Note, Suggestion, uncoded
from jpo.records.from_plugins import Queued
from jpo.report import headline
from jpo.report.document import plain_text
from tests.made import a_suggestion, altered


def said(made: Suggestion) -> str:
    return plain_text(headline.headline(made))


def test_the_first_word_says_what_it_is_and_the_chance_stands_once() -> None:
    made = altered(a_suggestion("s1"), confidence=0.62, kind="trial", trial=(2, 5))
    assert said(made) == "TRIAL 2 of 5: training.batch_size 32 → 64, 62% likely to end well and cost at most a tenth more"
    better = altered(made, kind="improvement", confidence=0.996)
    assert said(better) == "IMPROVEMENT: training.batch_size 32 → 64, more than 99% likely to be better"
    assert said(altered(made, kind="return", confidence=None)) == "RETURN: training.batch_size 32 → 64"
    kept = altered(made, kind="kept", status="kept", changes=(), reasons=uncoded(["it is settled", "all was tried"]))
    assert said(kept) == "KEPT: it is settled"


def test_a_claim_is_about_what_the_change_is_made_for() -> None:
    back = altered(a_suggestion("s1"), kind="return", reasons=(Note("JPO-W649", "it fails"),))
    assert headline.claim(back) == "to end well"
    assert headline.claim(altered(back, decided_by="rollback")) == "to be better"
    assert headline.claim(altered(back, reasons=(Note("JPO-I640", "it is better"),))) == "to lower the validation loss"
    raised = Note("JPO-I640", "it is better", about="accuracy_min")
    assert headline.claim(altered(back, reasons=(raised,))) == "to raise the validation accuracy"


def test_a_sentence_names_the_first_values_of_many() -> None:
    made = a_suggestion("s1")
    many = altered(made, changes=made.changes * 5, kind="improvement")
    assert said(many).endswith(", training.batch_size 32 → 64, 2 more values")


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
    assert headline.what_was_done(altered(made, checkout=back), written=True) == "1 value restored to what the file has"


def test_when_a_run_is_done_is_said_with_its_start() -> None:
    assert headline.done_by(Queued("slurm", 720.0, 0.0)) == "done by 1970-01-01 00:00 UTC (starts in 12m 00s, says slurm)"
    assert headline.done_by(Queued("slurm", 0.0, None)) == "starts at once, says slurm"


def test_an_instance_is_said_with_its_prices_and_their_age() -> None:
    one = Rented("g5.xlarge", "us-east-1", 1.006, 0.45, False, "2026-11-20", 1)
    words = "g5.xlarge in us-east-1 (0.503 EUR/h on demand, 0.225 EUR/h spot; prices of 2026-11-20, 1 day old)"
    assert headline.on_instance(one, Currency("EUR", 0.5)) == words
    assert "spot price unknown" in headline.on_instance(replace(one, usd_per_hour_spot=None), Currency())


def test_an_instance_now_and_another_next_are_told_apart() -> None:
    one = Rented("g5.xlarge", "us-east-1", 1.006, None, False, "2026-11-20", 1)
    other = replace(one, type="g5.12xlarge")
    assert headline.now_and_next(one, one, Currency()).endswith("now and next.")
    assert headline.now_and_next(one, other, Currency()).startswith("Now on g5.xlarge")
    assert "next on no known instance" in headline.now_and_next(one, None, Currency())
    assert headline.now_and_next(None, None, Currency()) == ""
