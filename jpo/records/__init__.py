"""Vocabulary of JPO: the records that its parts hand to each other.

All records are frozen and checked when they are built, so that later code need not ask again. A value that was not measured is
None (never zero). Times are unix seconds, ratios lie in 0..1, units are in the names.
"""

from jpo.policies import POLICIES, TRAINED, PolicyName
from jpo.records.arrays import (
    CALIBRATED,
    Belief,
    Bools,
    Calibration,
    Candidates,
    Draws,
    Floats,
    Ints,
    Residuals,
    TransferredSurfaces,
)
from jpo.records.contradictions import Contradictions, Reach, Stray
from jpo.records.decisions import (
    COVERAGE,
    FORECAST,
    HALF_WIDTH,
    NAMED_PREFERENCES,
    USD,
    ChangeKind,
    Currency,
    DecidedBy,
    Decision,
    Forecast,
    Interval,
    Preference,
    RuleApplied,
    Seen,
    TrackRecord,
    share_interval,
)
from jpo.records.from_plugins import FirstRun, Queued, RunEvent
from jpo.records.knowledge import Known, PhaseNeeds
from jpo.records.notes import Note, advice, codes_of, each_code_once, texts_of, uncoded
from jpo.records.progress import Spread, Track, Workers, in_turn, silently
from jpo.records.quality import QUALITIES, VAL_ACCURACY, VAL_LOSS, Quality, each_judged, own_quality, quality_measured
from jpo.records.ranges import Range
from jpo.records.runs import KUBERNETES, MEASURED, SERIES_QUANTITIES, Finished, Outcome, Run, Running, RunStatus, Series, Skipped
from jpo.records.suggestions import (
    AS_THE_RULE,
    BETTER_QUALITY,
    FAILS_OFTEN,
    NO_EVIDENCE,
    OBJECTIVE,
    OTHERWISE,
    RAN_BEFORE,
    RISK,
    SET_BY_HAND,
    UNTRIED,
    WIDENED,
    WORTH,
    Alternative,
    Change,
    DecisionOnRecord,
    Evidence,
    Guarded,
    Prospects,
    SlaCheck,
    SuggestedValues,
    Suggestion,
    Undo,
    as_stored,
    reasons_as_stored,
    suggestion_from,
)
from jpo.records.words import Word, plain, plain_values, value_of
from jpo.records.workloads import (
    COUNTS,
    LARGEST_VALUE,
    PARAMETERS,
    RESOURCES,
    SAME,
    SMALLEST_VALUE,
    TOTAL_OF,
    WHOLE,
    Checkout,
    Committed,
    Edit,
    Identity,
    Parameter,
    Parameters,
    Terms,
    Workload,
    as_given,
    in_order,
    same,
)
