"""Launching for one repository: which engine, which job, and what came of it, as jpo.toml and config.ini have it.

engines.py     `--on`, [launch] -> Launcher
jobs.py        config.ini, the command -> LaunchJob; the most that an engine has for one, as a limit of what is suggested
command.py     what was typed, a script or a command -> the command of a run, with its values where it reads them
waiting.py     how long runs would wait before they start, by the engine -> when they would be done
boundaries.py  after how much training a run can win no more, what it took besides, and how far one is
finished.py    an entry of the ledger that ended -> the Run that goes on record
accounts.py    the ledger brought up to date: runs that nobody follows any more, too
place.py       where the ledger is
source.py      launched runs as a source of runs, for `jpo suggest` and the like
boldness.py    which runs of `jpo optimize` are trials, and which use what was learnt
unfinished.py  suggestions under ids of one's own choosing, and what a killed process has left of one
"""
