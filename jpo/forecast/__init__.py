"""Forecasts of a workload: the belief after its runs so far, and what it says about the next one.

    belief.py          posterior over simulated jobs, given the runs: seconds, cost and loss at every candidate
    evidence/          what runs can be believed to say: implausible values, fixed work or a target, speed and work apart
    measurements.py    what the runs measured, per candidate
    weights.py         weights of the simulated jobs; earlier_jobs.py: which of them the other jobs of a store make likely
    discrepancy.py     what no simulated job explains
    transfer.py        response surfaces of other workloads; ensemble.py: how they are conditioned on the runs
    siblings/          the same job on other hardware: what its runs there say here
    gaussian_process.py  what a search expects, where no formula is known
    demand.py          throughput, memory, utilisation and electric power
    predict.py         an interval for one candidate
    calibration.py     errors and coverage of the last forecasts, and the interval factor that follows
    curves/            the end of a run that goes on, by the learning curves of earlier ones
    trials.py          full runs from small trials, and their validation loss
    similar.py         a new workload from similar ones, or from arithmetic (descriptors.py)
    pareto.py          fronts and hypervolumes
    before_after.py    two groups of runs compared

What no run, trial or similar workload supports is None. Nothing here chooses.
"""
