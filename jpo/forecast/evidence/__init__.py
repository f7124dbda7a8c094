"""Evidence: what the runs of a workload can be believed to say, before anything is forecast from them.

plausibility.py   values that cannot be, or that nothing confirms, are left out and named
duration.py       durations, or speed and work where samples were counted
stopped.py        what stopped runs would have needed until their target
work.py           whether a run is a fixed number of epochs, or ends at a target
loss.py           the validation loss at every candidate; groups.py: candidates that share what is measured of one
loaders.py        whether loading data holds a run up
"""
