import pytest

from jpo.forecast.loss_curve import loss_after


def test_a_smooth_loss_is_carried_on():
    losses = [(float(e), 0.2 + e**-0.7) for e in range(1, 21)]
    interval = loss_after(losses, 40.0)
    assert interval is not None
    assert interval.low < 0.2 + 40**-0.7 < interval.high
    assert interval.mean == pytest.approx(0.2 + 40**-0.7, rel=0.03)


@pytest.mark.parametrize(
    ("losses", "epochs"),
    [
        ([(float(e), 1 / e) for e in range(1, 5)], 8.0),  # too few
        ([(float(e), 1 / e) for e in range(1, 21)], 400.0),  # too far
        ([(float(e), 1.0 + (e % 2)) for e in range(1, 21)], 40.0),  # too rough
        ([(float(e), -1.0 / e) for e in range(1, 21)], 40.0),  # no logarithm
        ([], 40.0),
    ],
)
def test_a_loss_that_the_curve_does_not_support_is_unknown(losses, epochs):
    assert loss_after(losses, epochs) is None
