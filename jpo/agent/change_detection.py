"""Change detection: forecasts that miss again and again to the same side say that the world has changed; a single miss does not.

The belief forgets old runs slowly, and an agent that learnt from a world that is no more knows less than one that begins anew. So
learning is reset on this evidence: never on a timer, never by chance.
"""

import math
from dataclasses import dataclass

from jpo.records import Belief, Run

ALLOWANCE = 0.5
"""Standard deviations per run that are forgiven: the chart is fastest for a lasting shift of twice as much."""
ALARM = 5.0
"""With normal errors a false alarm once in some 500 runs (two-sided), a lasting shift of one sd is noticed after about ten.
Source for both: Montgomery, "Introduction to Statistical Quality Control", section 9.1."""
LARGEST = 2.5
"""Most standard deviations that one miss counts for: it takes at least three misses to raise the alarm."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Control chart: the two-sided cumulative sum of standardised forecast errors.

    Source: Page, "Continuous Inspection Schemes", Biometrika 1954.
    """

    above: float = 0.0
    below: float = 0.0

    def after(self, miss: float | None) -> "Chart":
        """The chart one run later; a run without a forecast error changes nothing."""
        if miss is None or math.isnan(miss):
            return self
        z = min(max(miss, -LARGEST), LARGEST)
        return Chart(max(0.0, self.above + z - ALLOWANCE), max(0.0, self.below - z - ALLOWANCE))

    @property
    def surprise(self) -> float:
        """How near the alarm is, in 0..1."""
        return min(1.0, max(self.above, self.below) / ALARM)

    @property
    def alarm(self) -> bool:
        return self.surprise >= 1.0


def forecast_error(belief: Belief, row: int, run: Run) -> float | None:
    """The standardised error of the duration's forecast: (ln seconds - mean) / sd, by the belief before the run.

    None for a run that did not end well or whose configuration had not run before: how a new one turns out tells about the
    prior, not about change.
    """
    seconds = run.outcome.duration_seconds
    if not run.ended_well or not seconds or belief.duration_seconds is None or belief.runs[row] == 0:
        return None
    log_time = belief.log_time[:, row]
    mean = float(belief.weights @ log_time)
    spread = float(belief.weights @ (log_time - mean) ** 2) + belief.noise**2
    return (math.log(seconds / belief.duration_seconds) - mean) / math.sqrt(spread)
