"""Replays of recorded jobs: what JPO and its peers would have cost on them, run by run.

traces.py      recorded jobs in files
play.py        one replay: a policy chooses, the recording answers
contest.py     all replays of a comparison, spread over processes
metrics.py     their scores with standard errors
policies/      the peers; ladders.py: knobs as steps
extras.py      optional packages
"""
