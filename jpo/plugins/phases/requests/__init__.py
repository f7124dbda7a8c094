"""Requests of CPU and memory that follow phases.

demand.py     what may be needed soon: futures of like positions
watch.py      an execution as it goes on: what is known after each sample
caution.py    how bold a request may be
allocate.py   requests within a budget of resizes
peers.py      simpler ways; evaluate.py: all of them in one table
rightsize.py  one request and limit for runs that are not resized
"""
