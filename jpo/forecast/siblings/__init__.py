"""Siblings: the same job on other hardware. What its runs there say about it here.

evidence.py      what siblings measured, per candidate
conditioning.py  simulated jobs, and recalled surfaces, after that evidence
"""
