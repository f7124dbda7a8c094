"""How bold each run of `jpo optimize` is: first values are tried out, then what was learnt is used.

Nobody waits for one run of the loop alone, and how many follow is known: what a trial finds out serves all that follow, what the
last run finds out serves none. So trials come first, and may end with a worse model than the runs of a pipeline; the rest, and
config.ini in the end, has the best that was measured and kept the quality floor. In a search all runs are trials.
"""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

from jpo.project.load import LoadedSettings
from jpo.records import Parameters

TRIALS = 1.6
"""Times the square root of the number of runs: how many of them are trials, 5 of 10. Measured in decision 0092."""

TRIAL_FLOOR = 5.0
"""Times the quality floor is how far below the first model a trial may end, since config.ini is not left with it: where the
number of epochs is fixed, the floor itself held nearly all that was worth trying. Measured in decision 0092."""


def trials_of(runs: int, *, vain: bool = False) -> int:
    """How many of so many runs try out values that were not run before: half as many again where so far all were in vain, none
    having ended well. Measured in decision 0092.
    """
    trials = round(TRIALS * math.sqrt(runs))
    return min(runs, trials + trials // 2 if vain else trials)


def settings_of_step(
    settings: LoadedSettings,
    number: int,
    runs: int,
    on_record: int,
    *,
    vain: bool = False,
    first_values: Parameters = MappingProxyType({}),
) -> LoadedSettings:
    """The settings with which the values of a step are suggested; where the user says how bold to be, that holds for all of them.

    Args:
        number: of the step, from 1; `runs` + 1: nothing follows, and the best values that were measured are wanted.
        on_record: runs of the workload so far.
        vain: no trial has ended well so far.
        first_values: those with which config.ini began, which come back where nothing ended well.
    """
    if number > runs:
        return _measured_alone(settings, first_values)
    known: dict[str, float] = {} if "agent.horizon_runs" in settings.origins else {"horizon_runs": on_record + runs - number + 1}
    if "agent.explore" in settings.origins:
        return _with_agent(settings, **known)
    if number > trials_of(runs, vain=vain) and settings.values.agent.goal != "search":
        return _measured_alone(settings, first_values, **known)
    floor = settings.values.agent.quality_floor
    if floor != "off" and "agent.quality_floor" not in settings.origins:  # one that the user has set holds for trials, too
        known["quality_floor"] = TRIAL_FLOOR * floor
    return _with_agent(settings, explore="on", exploration_runs=on_record + 1, **known)  # one more than can have been tried


def _measured_alone(settings: LoadedSettings, first_values: Parameters, **known: object) -> LoadedSettings:
    """Trials may have led further away than one step: what ended well is gone back to from anywhere."""
    return replace(_with_agent(settings, explore="off", **known), fallback=first_values)


def _with_agent(settings: LoadedSettings, **changes: object) -> LoadedSettings:
    values = settings.values
    return replace(settings, values=values.model_copy(update={"agent": values.agent.model_copy(update=changes)}))
