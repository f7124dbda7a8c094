import json
import re
from dataclasses import replace

from jpo.plugins.launch.during.adjustment import Adjustment, ReleasedShare, Saving
from jpo.plugins.launch.job import JobState
from jpo.plugins.launch.report.watch.watched import (
    BesideBaseline,
    QualityCurve,
    RunForecast,
    WatchedRun,
    WinChance,
    as_json,
    as_line,
    decision,
    document,
)
from jpo.plugins.launch.watching.seen import RunTimes, SeenRun, TrainingLog
from jpo.records import Identity, Interval, SlaCheck
from jpo.records.notes import Note
from jpo.report.forms import text

SEEN = SeenRun(
    "night-1",
    Identity("digits", "cnn", "pytorch"),
    {"batch_size": 64.0, "epochs": 40.0},
    "slurm",
    JobState.RUNNING,
    1100.0,
    times=RunTimes(1000.0),
)
RUN = WatchedRun(
    replace(SEEN, place="node-3", training=TrainingLog(10.0)),
    QualityCurve("val_loss", ((1.0, 1.0), (10.0, 0.25))),
    RunForecast(Interval(400, 380, 420), Interval(1400, 1380, 1420)),
    usd_so_far=0.1,
    basis="the last runs before the change",
    compared=(BesideBaseline("duration_seconds", 100.0, 200.0, 0.5, "better"),),
    sla=(SlaCheck("time_max", 300.0, "broken"),),
    chance=WinChance(why="Chance to win: it is 40%."),
    warnings=(Note("JPO-W783", "time_max = 5m 00s will be missed", "time_max"),),
)
STOP = Adjustment(1090.0, "it can hardly win", wins=0.0, expected=Saving(300.0, 0.5))


def shown(run):
    return text.render(document(run), width=120, colour=False, encoding="utf-8")


def test_people_see_how_it_stands():
    page = shown(RUN)
    for words in ("Run night-1", "slurm on node-3", "10 of 40 (25%)", "6m 40s (6m 20s to 7m 00s)", "-50%", "faster", "broken"):
        assert words in page
    assert "against the last runs before the change" in page
    assert "█▁  0.25" in page
    assert "[JPO-W783]" in page


def test_when_it_ends_is_said_from_now_on():
    assert re.search(r"ends in +5m 00s \(4m 40s to 5m 20s\)\n", shown(RUN))
    late = replace(RUN, forecast=replace(RUN.forecast, ends_at=Interval(1090.0, 1070.0, 1120.0)))
    assert re.search(r"ends in +0s \(0s to 20s\)\n", shown(late))


def test_what_is_unknown_is_called_so():
    page = shown(replace(RUN, forecast=RunForecast(), usd_so_far=None))
    assert page.count("unknown") >= 4


def test_a_waiting_run_says_why_and_when():
    waiting = replace(SEEN, state=JobState.WAITING, words="(Priority)", times=RunTimes(starts_at=5000.0))
    page = shown(WatchedRun(waiting, QualityCurve("val_loss")))
    assert "(Priority)" in page
    assert re.search(r"expected to start in +1h 05m", page)


def test_a_decision_says_what_it_should_save_and_what_it_saved():
    assert "would do (--apply does it)" in decision(STOP)
    assert "should save 5m 00s and 0.50 USD" in decision(STOP)
    done = replace(STOP, applied=True, actual=Saving(290.0, 0.48))
    assert decision(done).endswith("done; saved 4m 50s and 0.48 USD")
    wrong = replace(STOP, actual=Saving(200.0, None), right=False)
    assert decision(wrong).endswith("would have saved 3m 20s; but it became the best run")


def test_a_release_says_what_is_left():
    release = Adjustment(1.0, "idle", ReleasedShare("cpus", 8.0, 2.0), applied=True, answer="")
    assert "release CPUs 8 → 2: idle; what it saves is not known; done" in decision(release)


def test_a_line_for_logs_has_the_essentials():
    line = as_line(RUN)
    assert line.startswith("night-1 running; epoch 10 of 40 (25%); val loss 0.25; elapsed 1m 40s; in all 6m 40s")
    assert line.endswith("duration faster; time_max broken")


def test_programs_get_everything():
    found = json.loads(json.dumps(as_json(replace(RUN, decisions=(STOP,)))))
    assert found["schema_version"] == 1
    assert found["workload"]["model"] == "cnn"
    assert found["ends_at"] == {"mean": 1400, "low": 1380, "high": 1420}
    assert found["decisions"][0]["expected"] == {"seconds": 300.0, "usd": 0.5}
    assert found["warnings"] == [{"text": "time_max = 5m 00s will be missed", "code": "JPO-W783"}]
