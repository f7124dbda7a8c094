"""Finished runs from CSV logs.

log.py      one complete log -> Run; the format is described there
lines.py    the lines of a log, one by one
folder.py   many logs at once
follow.py   a log that is still being written
"""
