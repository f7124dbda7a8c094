from dataclasses import replace

import pytest

from jpo.plugins.launch.during.adjustment import (
    Adjustment,
    ReleasedShare,
    Saving,
    as_json,
    from_json,
    is_new,
    must_wait,
    settled,
)

STOP = Adjustment(100.0, "why", wins=0.0, expected=Saving(500.0, 5.0))
RELEASE = Adjustment(100.0, "why", ReleasedShare("cpus", 8, 2, 3.6), expected=Saving(None, 1.0))


def test_a_decision_is_made_once():
    assert is_new(STOP, [])
    assert not is_new(STOP, [STOP])
    assert not is_new(RELEASE, [RELEASE])
    assert is_new(RELEASE, [STOP])


def test_more_can_be_released_later_and_never_given_back():
    assert is_new(replace(RELEASE, release=ReleasedShare("cpus", 8, 1)), [RELEASE])
    assert not is_new(replace(RELEASE, release=ReleasedShare("cpus", 8, 4)), [RELEASE])


def test_what_was_only_said_is_carried_out_once():
    assert is_new(replace(STOP, applied=True), [STOP])
    assert not is_new(replace(STOP, applied=True), [replace(STOP, applied=True)])


def test_two_decisions_lie_apart():
    assert must_wait([RELEASE], now=101) == 0
    assert must_wait([replace(RELEASE, applied=True)], now=160) == pytest.approx(240)
    assert must_wait([replace(RELEASE, applied=True)], now=500) == 0


def test_a_stop_saved_what_was_expected_less_what_ending_took():
    done = settled(replace(STOP, applied=True), ended_at=110, usd_per_hour=36.0, won=None)
    assert done.actual == Saving(490.0, pytest.approx(4.9))
    assert done.right is None


@pytest.mark.parametrize(("won", "right"), [(True, False), (False, True), (None, None)])
def test_a_stop_that_was_not_carried_out_shows_whether_it_was_right(won, right):
    done = settled(STOP, ended_at=400, usd_per_hour=None, won=won)
    assert done.actual == Saving(300.0, None)
    assert done.right is right


def test_a_release_saves_as_long_as_the_run_goes_on():
    assert settled(replace(RELEASE, applied=True), ended_at=1100, usd_per_hour=9, won=None).actual == Saving(
        None, pytest.approx(1.0)
    )
    assert settled(RELEASE, ended_at=1100, usd_per_hour=9, won=None).actual == Saving(None, pytest.approx(1.0)), "it would have"


@pytest.mark.parametrize("made", [STOP, RELEASE, settled(STOP, ended_at=400, usd_per_hour=None, won=False)])
def test_what_is_kept_is_read_back(made):
    assert from_json(as_json(made)) == made


def test_what_earlier_versions_kept_is_read():
    kept = {"at": 100.0, "kind": "release", "why": "why", "about": "cpus", "given": 8, "kept": 2, "wins": None}
    kept |= {"saves_usd_per_hour": 3.6, "expected": {"seconds": None, "usd": 1.0}, "applied": False, "answer": ""}
    assert from_json({**kept, "actual": None, "right": None}) == RELEASE
    assert list(as_json(RELEASE)) == [*kept, "actual", "right"]
    with pytest.raises(ValueError, match="not a kind"):
        from_json({**kept, "kind": "resize"})
