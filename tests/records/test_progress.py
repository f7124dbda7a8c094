from __future__ import annotations

from jpo.records import Track, silently


def test_a_loop_that_shows_nothing_goes_through_its_numbers() -> None:
    track: Track = silently
    assert list(track(range(3), "reading logs")) == [0, 1, 2]
