from __future__ import annotations

import json
from dataclasses import replace
from math import inf

import numpy as np

from jpo.plugins.phases.following.follower import FollowedState, UsageSample
from jpo.plugins.phases.forecast import PhaseForecast
from jpo.plugins.phases.report.followed import Followed, as_json, as_line, last_line
from jpo.report.forms import json as lines

COMING = PhaseForecast(2, 240.0, 3, 120.0, 60.0, 1.7, 0.6)
STATE = FollowedState(UsageSample(1e9, 1.6, 2.0**29), COMING, np.array([1.75, 2.0**30]), np.array([0.71, 0.62]))
NOW = Followed("night-1", STATE, (1.75, 2.0**30), (4.0, 2.0**32), True, 7, True)


def test_a_line_says_where_it_is_what_comes_and_what_is_done() -> None:
    assert as_line(NOW) == ("phase 2 since 4m 00s, then 3 in 2m 00s; uses 1.6 cores, 0.5 GiB; resized to 1.75 cores, 1 GiB")
    assert "would resize to" in as_line(replace(NOW, applied=False))
    doubt = replace(NOW, resized=False, state=replace(STATE, doubt="time goes back"))
    assert as_line(doubt).endswith("; request 1.75 cores, 1 GiB (the first one: time goes back)")
    last = replace(NOW, request=(inf, inf), state=replace(STATE, coming=replace(COMING, next_phase=None)))
    assert "then" not in as_line(last)
    assert as_line(last).endswith("all cores, all memory")


def test_the_last_line_says_what_it_held() -> None:
    assert last_line(NOW) == "night-1 has ended: it had 0.71 of CPU and 0.62 of memory, in shares of its own peak; 7 resizes"


def test_a_line_of_json_has_no_infinite_number() -> None:
    said = json.loads(lines.line(as_json(replace(NOW, first=(inf, 2.0**32)))))
    assert said["first"] == [None, 2**32]
    assert said["expected"]["next_phase"] == 3
    assert (said["resizes"], said["shares"]) == (7, [0.71, 0.62])
