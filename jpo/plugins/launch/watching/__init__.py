"""Watching for one repository: what a run that goes on shows of itself, and what earlier runs say about it.

seen.py       SeenRun, a run as it is now
observers.py  who looks at one: in its log, through its engine, in Prometheus
sampled_progress.py  when each epoch was done, as a server sampled it, and what the model was worth then
past.py       what is known of runs like it: the run to beat, the baseline, their learning curves
events.py     the adjustments as `jpo history` shows them
live.py       runs that go on for other plugins, by id or pod
account.py    the adjustments of a run, kept in its folder of the ledger, and on the audit log
"""
