from __future__ import annotations

import math

from jpo.records import VAL_ACCURACY, VAL_LOSS, Quality
from jpo.wording import qualities

F1 = Quality("f1", more_is_better=True, best=1.0)


def test_a_loss_is_said_in_shares_of_itself_and_an_accuracy_as_its_value() -> None:
    assert qualities.worse_than(VAL_LOSS, 0.4, 0.02) == "a validation loss more than 2% worse"
    assert qualities.worse_than(VAL_ACCURACY, 0.07, 0.02) == "a validation accuracy below 0.9286"
    assert qualities.worse_than(F1, 0.2, 0.02) == "f1 below 0.796"
    assert [qualities.better(each) for each in (VAL_LOSS, VAL_ACCURACY)] == [
        "lowers the validation loss",
        "raises the validation accuracy",
    ]


def test_a_metric_without_ratios_is_said_as_its_value_whichever_way_is_better() -> None:
    energy = Quality("energy", best=-2.0)  # less is better, and it may be below 0
    assert qualities.worse_than(energy, 1.5, 0.02) == "energy above -0.47"
    assert qualities.difference(energy, 1.5, math.log(2)) == "energy +1.5"


def test_a_difference_stands_next_to_the_short_name() -> None:
    assert qualities.difference(VAL_LOSS, 0.4, math.log(1.1)) == "loss +10%"
    assert qualities.difference(VAL_ACCURACY, 0.07, math.log(6 / 7)) == "accuracy +0.01"
    assert qualities.difference(F1, 0.2, 0.0) == "f1 ±0"
    assert qualities.difference(VAL_ACCURACY, 0.07, 1e-4) == "accuracy ±0", "four digits are shown"
