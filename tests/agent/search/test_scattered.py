"""What is scattered in a large space: the middle, near the best, and anywhere; always of the ladders."""

from __future__ import annotations

import itertools

from jpo.agent.search.scattered import scattered

LADDERS = {"rate": tuple(float(i) for i in range(13)), "optimizer": (0.0, 1.0, 2.0), "held": (5.0,)}
BASE = {"rate": 2.0, "optimizer": 1.0, "held": 5.0, "gpus": 4.0}


def test_the_middle_comes_first_with_todays_words_and_all_is_of_the_ladders() -> None:
    some = list(itertools.islice(scattered([BASE], LADDERS, {"optimizer"}, 0), 200))
    assert some[0] == {**BASE, "rate": 6.0}
    assert all(values["gpus"] == 4 and all(values[name] in LADDERS[name] for name in LADDERS) for values in some)
    assert {values["rate"] for values in some} == set(LADDERS["rate"])
    assert {values["optimizer"] for values in some} == {0.0, 1.0, 2.0}


def test_it_is_the_same_for_the_same_seed_alone() -> None:
    one, same, other = (list(itertools.islice(scattered([BASE], LADDERS, (), seed), 20)) for seed in (1, 1, 2))
    assert one == same != other
