"""Learning of the agent: from recorded runs and by practice on simulated jobs, until a release test lets its policy decide.

continual.py   one agent takes in all runs of a store; experience.py: a run as a transition; backlog.py: runs not taken in yet
serving.py     which policy may decide
prequential.py what the policy departed for, and how that turned out; kept_residuals.py: what the jobs here showed
practice.py    simulated jobs to learn and be tested on: job.py, scenarios.py, forks.py; own_history.py: from the user's own runs
release.py     the release test; deadline.py: the end that all of it keeps
pretraining.py the shipped policy; named_policies.py: policies that a user can name instead
"""
