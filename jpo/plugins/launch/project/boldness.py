"""How bold each run of `jpo optimize` is: it costs what it teaches, or less.

Nobody waits for one run of the loop alone, and how many follow is known: what a trial finds out serves all that follow, what the
last run finds out serves none. So each run is that which is expected to cost least with all that follow it (`explore` "on"). A
trial may end with a worse model than the runs of a pipeline; config.ini has in the end the best that was measured and kept the
quality floor.
"""

from dataclasses import replace
from types import MappingProxyType

from jpo.project.load import LoadedSettings
from jpo.records import Parameters

TRIAL_FLOOR = 5.0
"""Times the quality floor is how far below the first model a trial may end, since config.ini is not left with it: where the
number of epochs is fixed, the floor itself held nearly all that was worth trying. Measured in decision 0092."""


def settings_of_step(
    settings: LoadedSettings, number: int, runs: int, on_record: int, *, first_values: Parameters = MappingProxyType({})
) -> LoadedSettings:
    """The settings with which the values of a step are suggested; where the user says how bold to be, that holds for all of them.

    Args:
        number: of the step, from 1; `runs` + 1: nothing follows, and the best values that were measured are wanted.
        on_record: runs of the workload so far.
        first_values: those with which config.ini began, which come back where nothing ended well.
    """
    if number > runs:  # trials may have led further away than one step: what ended well is gone back to from anywhere
        return replace(_with_agent(settings, explore="off"), fallback=first_values)
    known: dict[str, float] = {} if "agent.horizon_runs" in settings.origins else {"horizon_runs": on_record + runs - number + 1}
    if "agent.explore" in settings.origins:
        return _with_agent(settings, **known)
    floor = settings.values.agent.quality_floor
    if floor != "off" and "agent.quality_floor" not in settings.origins:  # one that the user has set holds for trials, too
        known["quality_floor"] = TRIAL_FLOOR * floor
    return _with_agent(settings, explore="on", **known)


def _with_agent(settings: LoadedSettings, **changes: object) -> LoadedSettings:
    values = settings.values
    return replace(settings, values=values.model_copy(update={"agent": values.agent.model_copy(update=changes)}))
