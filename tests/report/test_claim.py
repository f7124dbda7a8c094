from __future__ import annotations

from dataclasses import replace

from jpo.records import LOSS_KEPT
from jpo.report import claim
from tests.made import a_suggestion


def test_a_trial_says_what_its_confidence_is_about_and_the_chance_that_it_leaves_out() -> None:
    known = a_suggestion("s1")
    trial = replace(known, codes=("JPO-I604",))
    assert claim.of(known) == ""
    assert claim.of(trial) == " that it ends well and is no more than a tenth worse"
    both = " that it ends well and costs no more than a tenth more, 61% that it keeps the loss"
    assert claim.of(replace(trial, seen={LOSS_KEPT: 0.61})) == both
    assert claim.of(replace(trial, codes=("JPO-I640", "JPO-I604"))) == " that it lowers the validation loss"
