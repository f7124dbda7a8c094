"""Finished runs from CSV logs.

log.py      one complete log -> Run; the format is described there
lines.py    the lines of a log, one by one, and how its rows went
folder.py   many logs at once; remembered.py: those that were read before
log_doubts.py  where a log contradicts itself
follow.py   a log that is still being written
"""
