import math
from dataclasses import replace

import pytest

from jpo.cost import Prices
from jpo.errors import TelemetryError
from jpo.plugins.launch.during.progress import ResourceUse
from jpo.plugins.launch.job import JobState
from jpo.plugins.launch.report.watch.watched import QualityCurve, WatchedRun
from jpo.plugins.launch.story.watch.deciding import WatchOptions, Window
from jpo.plugins.launch.story.watch.standing import ProjectTerms
from jpo.plugins.launch.story.watch.story import RunWatch, follow, is_step, once
from jpo.plugins.launch.watching.seen import RunTimes, SeenRun, TrainingLog
from jpo.project.load import load
from jpo.records import USD, Identity, Preference
from jpo.telemetry.csv.follow import LogRow

SEEN = SeenRun("now", Identity("d", "m", "f"), {"epochs": 4.0}, "csv", JobState.RUNNING, 1000.0, times=RunTimes(1000.0))
SEEN = replace(SEEN, training=TrainingLog(0.0))
ONE_EPOCH = replace(SEEN, training=TrainingLog(1.0))
STATE = WatchedRun(SEEN, QualityCurve("val_loss"))


class Recording:
    """An observer that sees what was recorded, look by look."""

    def __init__(self, *looks):
        self.looks = [*looks]

    def observe(self, now):
        found = self.looks.pop(0)
        return None if found is None else replace(found, at=now)


@pytest.fixture
def watch(empty):
    settings = load(empty.config, None, {}, {})
    terms = ProjectTerms(Prices(), USD, {}, Preference())
    return lambda *looks: RunWatch(Recording(*looks).observe, None, settings, terms, WatchOptions())


def test_a_run_is_followed_to_its_end_with_longer_and_longer_pauses(watch):
    now = [1000.0]
    looks = [None, None, SEEN, SEEN, SEEN, ONE_EPOCH, replace(SEEN, state=JobState.ENDED)]
    pauses = []

    def sleep(seconds):
        pauses.append(seconds)
        now[0] += seconds

    states = [*follow(watch(*looks), clock=lambda: now[0], sleep=sleep)]
    assert [state.seen.state for state in states] == ["running"] * 4 + ["ended"]
    assert pauses == [1.0, 1.0, 1.0, 1.5, 2.25, 1.0]


def test_a_log_that_never_appears_is_given_up(watch, tmp_path):
    now = [1000.0]
    waiting = watch(*[None] * 2000)
    waiting.log = tmp_path / "none.csv"
    with pytest.raises(TelemetryError) as error:
        next(follow(waiting, clock=lambda: now[0], sleep=lambda seconds: now.__setitem__(0, now[0] + seconds)))
    assert error.value.code == "JPO-E130"


def test_once_decides_at_once(watch):
    found = once(watch(ONE_EPOCH), now=1010.0)
    assert "needed as the reference" in found.chance.why


def test_a_run_that_is_stopped_releases_all(watch):
    class Idle(Window):
        def uses(self, given):
            return (ResourceUse("cpus", 8, 1.0, 20, 5.0),)

    diverged = replace(ONE_EPOCH, training=TrainingLog(1.0, rows=(LogRow(1001.0, 1, None, math.nan, math.nan),)))
    found = []
    for seen in (ONE_EPOCH, diverged):
        one = watch(seen)
        one.window = Idle()
        found += one.observe(1010.0, at_once=True).decisions
    assert [made.release and made.release.resource for made in found] == ["cpus", None]
    assert found[1].is_stop
    assert watch(ONE_EPOCH).observe(1010.0, at_once=True).decisions == ()


def test_once_there_must_be_something_to_see(watch):
    with pytest.raises(TelemetryError):
        once(watch(None), now=1010.0)


@pytest.mark.parametrize(
    ("change", "step"),
    [
        ({}, False),
        ({"seen": replace(SEEN, at=1001.0)}, False),
        ({"seen": replace(SEEN, training=TrainingLog(0.4))}, False),
        ({"seen": ONE_EPOCH}, True),
        ({"seen": replace(SEEN, state=JobState.ENDED)}, True),
        ({"seen": replace(SEEN, words="Priority")}, True),
        ({"held": "wait"}, True),
    ],
)
def test_a_step_is_an_epoch_a_state_or_a_decision(change, step):
    assert is_step(replace(STATE, **change), STATE) is step
    assert is_step(STATE, None)
