"""`jpo watch`: the runs that were launched, or one of them as it goes on, and decisions about it.

story.py     find the run, look at it again and again, say how it stands, until it is over
standing.py  a look at it and what is on record -> how it stands: end, cost, baseline, SLA
deciding.py  every few epochs: what should be done, and, with --apply, doing it
"""
