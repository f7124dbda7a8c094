from jpo.optimizer.prediction import Expected, Row
from jpo.records import Forecast, Interval, SlaCheck


def test_a_broken_target_is_not_allowed_and_one_at_risk_is():
    expected = Expected("history", "the history: 3 finished runs", Forecast(Interval(3600.0, 1800.0, 7200.0)))
    broken, risk = (
        Row({"batch_size": 64.0}, {}, None, expected, sla=(SlaCheck("time_max", 1.0, verdict),))
        for verdict in ("broken", "at risk")
    )
    assert (broken.allowed, risk.allowed) == (False, True)
