"""Runs that go on: how far they are, and what they use. None of them is evidence.

ask.py               what a server knows of the runs of a workload that have not ended
work_done.py         how much of its work a run has done, and when it may end
"""
