"""The belief about a workload after its runs so far, and what it says about the next one.

    belief.py         simulated jobs weighed by the runs (seen.py): seconds, cost and loss at every candidate
    ensemble.py, weights.py    how they are moved to the measurements, and weighed; empirical_bayes.py: where they come from
    surfaces.py       what other workloads were like
    misfit.py         what no simulated job explains
    demand.py         throughput, memory and utilisation; power.py: electric power
    predict.py        an interval for one candidate
    track_record.py   how the last forecasts turned out; widening.py: what follows from it
    loss_curve.py, trials.py    a whole run from a small trial
    similar.py, descriptors.py    a new workload from similar ones, or from arithmetic
    pareto.py         fronts and hypervolumes
    before_after.py   two sets of runs compared

What no run, trial or similar workload supports is None. Nothing here chooses.
"""

from jpo.forecast.belief import posterior
from jpo.forecast.predict import predict

__all__ = ["posterior", "predict"]
