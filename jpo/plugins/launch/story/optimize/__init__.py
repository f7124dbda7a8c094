"""`jpo optimize`: the whole loop of suggest, run and record, for several jobs in one call.

task.py       what is to be done, and what of the outside that needs
loop.py       one job: baseline runs, then a suggestion and a run of it again and again; each step is found done or made
following.py  one run: started once, followed to its end or its boundary, put on record
results.py    what came of it, from the ledger and the history alone
preview.py    what the loop of each job would do next
optimize.py   several jobs side by side, and an end that can be gone on from
"""
