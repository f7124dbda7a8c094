"""A small report: one workload with two runs, one of which failed, and one suggestion."""

from __future__ import annotations

from made import DIGITS, a_run, a_suggestion

from jpo.cost.sla import compliance
from jpo.forecast.before_after import compare
from jpo.history import AuditRecord, RecordedRun, Verification
from jpo.history.figures import spread
from jpo.plugins.page.configurations import MeasuredConfiguration, MeasuredFront
from jpo.plugins.page.report.record import AuditDigest, Review, ReviewedRun, ReviewedSuggestion, WorkloadReview
from jpo.plugins.page.rewards import RewardComponents
from jpo.plugins.page.savings import Saved
from jpo.records import Forecast, Interval, Outcome, RunStatus, SlaCheck
from jpo.report.before_after import WorkloadChange
from jpo.report.history import Compared, Ledger, PastRun

SUGGESTION = a_suggestion(next=Forecast(duration_seconds=Interval(48.0, 40.0, 60.0)))
FAILED = a_run("bad", 300.0, status=RunStatus.OOM_KILLED, parameters={"batch_size": 128.0}, outcome=Outcome(duration_seconds=9.0))
GOOD, BAD = (
    PastRun(RecordedRun(a_run(), "s1", 201.0), "succeeded", Compared(1.04, True), SUGGESTION, "ok"),
    PastRun(RecordedRun(FAILED, None, 301.0), "oom killed", None, None, "unknown"),
)
CHECK = SlaCheck("time_max", 60.0, "ok")
LINES = [compare("duration_seconds", [80.0, 90.0, 100.0], [50.0, 51.0, 52.0], more_is_better=False, seed=0)]
WORKLOAD = WorkloadReview(
    identity=DIGITS,
    saved=(
        Saved("duration_seconds", 90.0, 3, 2, 1, 59.0, Interval(31.0, 20.0, 42.0)),
        Saved("cost_usd", None, 0, 0, 0, 0.0, None),
    ),
    change=WorkloadChange(DIGITS, 100.0, 100.0, 3, 3, 0, LINES, ()),
    runs=(ReviewedRun(GOOD, 0.5, 36.0, ((CHECK, 50.0),)), ReviewedRun(BAD, None, None, ())),
    decisions=(ReviewedSuggestion(SUGGESTION, "ada github", "written", spread([50.0]), 2, 2, 1),),
    ledger=Ledger((), {}, 1, 0, None),
    compliance=compliance([[CHECK]]),
    front=MeasuredFront(
        ("duration_seconds", "cost_usd"),
        (
            MeasuredConfiguration({"batch_size": 64.0}, 1, 0, {"duration_seconds": 50.0, "cost_usd": 0.5}, True),
            MeasuredConfiguration({"batch_size": 128.0}, 0, 1, {"duration_seconds": None, "cost_usd": None}, False),
        ),
        False,
    ),
    rewards=(RewardComponents(a_run(), 0.0, 0.0, None, None, False, 0.0, 0.0),),
    today={"batch_size": 64.0, "learning_rate": 0.1},
)
CHAIN = Verification(7, "ab" * 32)
LEARNT = AuditRecord(6, 250.0, "learnt", DIGITS, {"runs": 2, "updates": 40, "by": {"user": "ada", "where": "github"}}, "", "")
REVIEW = Review(
    made_at=1_700_000_000.0,
    place="sqlite:///jpo.db",
    version="0.1.0",
    workloads=(WORKLOAD,),
    saved={"duration_seconds": Interval(31.0, 20.0, 42.0), "cost_usd": None},
    targets={"time_max": 60.0},
    audit=AuditDigest(CHAIN, {"observed": 2, "suggested": 1}, (), (LEARNT,), ()),
    decides="the belief rule",
)
