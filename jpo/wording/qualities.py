"""Qualities of a model in words: a loss is said in shares of itself, an accuracy or a metric of the user's own as its value."""

import math

from jpo.records import VAL_LOSS, Quality
from jpo.wording import names, numbers

ROUNDING = 1e-4
"""Share of a value below which two are equal: they are written with four digits."""
LARGEST_LOG = 10.0
"""Natural log beyond which a ratio is no longer told apart: e^10 is 2,202,547%."""


def name_of(quality: Quality) -> str:
    """Its name in a sentence: validation loss, validation accuracy, f1."""
    return names.quantity(quality.name).long or quality.name


def better(quality: Quality) -> str:
    """What a better model does to it: lowers the validation loss, raises the validation accuracy."""
    return f"{'raises' if quality.more_is_better else 'lowers'} the {name_of(quality)}"


def value(quality: Quality, error: float) -> str:
    """What an error means, as its value."""
    return numbers.plain(quality.value_of(error))


def worse_than(quality: Quality, error: float, share: float) -> str:
    """What is worse than an error by more than a share: a validation loss more than 2% worse, an accuracy below 0.9286."""
    if quality.is_error:
        return f"{_with_article(quality)} more than {share:.0%} worse"
    beyond = "below" if quality.more_is_better else "above"
    return f"{_with_article(quality)} {beyond} {value(quality, error * (1 + share))}"


def difference(quality: Quality, error: float, log_ratio: float) -> str:
    """What a ratio of errors means, next to the quality's short name: loss -3%, accuracy +0.004."""
    ratio = math.exp(min(log_ratio, LARGEST_LOG))
    if quality == VAL_LOSS:
        return f"loss {numbers.change(ratio)}"
    after, before = quality.value_of(error * ratio), quality.value_of(error)
    change = after - before if abs(after - before) > ROUNDING * abs(after) else 0.0
    return f"{names.heading(quality.name)} {numbers.difference(change)}"


def _with_article(quality: Quality) -> str:
    """A validation accuracy; a metric of the user's own has a name, and no article."""
    long = names.quantity(quality.name).long
    return f"a {long}" if long else quality.name
