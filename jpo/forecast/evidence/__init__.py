"""Evidence: what the runs of a workload can be believed to say, before anything is forecast from them.

plausibility.py   values that cannot be, or that nothing confirms, are left out and named
work.py           whether a run is a fixed number of epochs, or ends at a target
slope.py          how steep the learning curves still are: what less progress would cost
"""
