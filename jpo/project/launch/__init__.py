"""Launching for one repository: which engine, which job, and what came of it, as jpo.toml and config.ini have it.

engines.py     `--on`, [launch] -> Launcher
instances.py   [launch.aws], [prices] -> where instances start, and which are on offer
jobs.py        config.ini, the command -> LaunchJob
waiting.py     how long runs would wait before they start, by the engine -> when they would be done
finished.py    an entry of the ledger that ended -> the Run that goes on record
"""
