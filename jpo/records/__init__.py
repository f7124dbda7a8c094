"""Vocabulary of JPO: the records that its parts hand to each other.

All records are frozen and checked when they are built, so that later code need not ask again. A value that was not measured is
None (never zero). Times are unix seconds, ratios lie in 0..1, units are in the names. They stand in the order of the story.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jpo.policies import POLICIES, TRAINED, PolicyName
from jpo.records.arrays import Belief, Candidates, Draws, Residuals
from jpo.records.decisions import (
    LOSS_KEPT,
    NAMED_PREFERENCES,
    USD,
    Currency,
    DecidedBy,
    Decision,
    Forecast,
    Interval,
    Preference,
    TrackRecord,
)
from jpo.records.knowledge import Known
from jpo.records.runs import MEASURED, SERIES_QUANTITIES, Finished, Outcome, Run, RunStatus, Series, Skipped
from jpo.records.suggestions import NO_EVIDENCE, Alternative, Change, Evidence, Guarded, SlaCheck, Suggestion, Undo
from jpo.records.workloads import (
    COUNTS,
    LARGEST_VALUE,
    PARAMETERS,
    RESOURCES,
    SAME,
    SMALLEST_VALUE,
    WHOLE,
    Checkout,
    Committed,
    Edit,
    Identity,
    Parameter,
    Parameters,
    Terms,
    Workload,
    same,
)

if TYPE_CHECKING:
    from jpo.records.arrays import Bools as Bools
    from jpo.records.arrays import Floats as Floats
    from jpo.records.arrays import Ints as Ints

__all__ = [
    "COUNTS",
    "LARGEST_VALUE",
    "LOSS_KEPT",
    "MEASURED",
    "NAMED_PREFERENCES",
    "NO_EVIDENCE",
    "PARAMETERS",
    "POLICIES",
    "RESOURCES",
    "SAME",
    "SERIES_QUANTITIES",
    "SMALLEST_VALUE",
    "TRAINED",
    "USD",
    "WHOLE",
    "Alternative",
    "Belief",
    "Candidates",
    "Change",
    "Checkout",
    "Committed",
    "Currency",
    "DecidedBy",
    "Decision",
    "Draws",
    "Edit",
    "Evidence",
    "Finished",
    "Forecast",
    "Guarded",
    "Identity",
    "Interval",
    "Known",
    "Outcome",
    "Parameter",
    "Parameters",
    "PolicyName",
    "Preference",
    "Residuals",
    "Run",
    "RunStatus",
    "Series",
    "Skipped",
    "SlaCheck",
    "Suggestion",
    "Terms",
    "TrackRecord",
    "Undo",
    "Workload",
    "same",
]
