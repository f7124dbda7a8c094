"""Whether a run has diverged: its losses are no numbers any more, by more than one of them.

Many jobs log a single NaN: a validation batch was empty, a step overflowed and was left out. Stopping cannot be taken back, and
who has really diverged logs it again at once.
"""

import math
from collections.abc import Iterable, Sequence

GROWN = 10.0
"""Multiple of its least at which a loss runs away: what is no number after that is no accident."""
Losses = Sequence[float]


def has_diverged(newest: tuple[float | None, float | None], train: Losses, val: Losses, others: Iterable[Losses] = ()) -> bool:
    """Whether what was logged so far, oldest first, says that the run has diverged.

    It has where training and validation loss of one row are both no numbers, where the training loss is infinite, where one of
    them is no number twice in a row, or after it grew beyond GROWN times its least. A validation loss, or another quality, that
    never was a number beside a training loss that is one was never measured.

    Args:
        newest: training and validation loss of the last row that has one of them; None: it does not.
        others: other qualities of the model, such as an accuracy.
    """
    if all(loss is not None and not math.isfinite(loss) for loss in newest) or (newest[0] is not None and math.isinf(newest[0])):
        return True
    if _lost_twice(train) or _ran_away(train) or _ran_away(val):
        return True
    learns = any(map(math.isfinite, train))
    return any(_lost_twice(values) and (any(map(math.isfinite, values)) or not learns) for values in (val, *others))


def _lost_twice(values: Losses) -> bool:
    return len(values) > 1 and not any(map(math.isfinite, values[-2:]))


def _ran_away(values: Losses) -> bool:
    """Whether the last one is no number, and the one before it far above the least, which is above 0."""
    *before, last = values or (0.0,)
    known = [value for value in before if math.isfinite(value)]
    return not math.isfinite(last) and bool(known) and math.isfinite(before[-1]) and before[-1] > GROWN * min(known) > 0
