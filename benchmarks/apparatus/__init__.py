"""The apparatus of the benchmarks: what several of them need, and what measures nothing by itself.

stamp.py            date, machine and commit of a measurement
forecast_jobs.py    the jobs of forecasts.py
night_jobs.py       the jobs of nights.py, by kind
night_truth.py      their truth, and the best of what is allowed
night_files.py      their config.ini, jpo.toml and logs
night_players.py    who is asked each night: a program, or the jpo that is imported
night_figures.py    what their nights come to, and the promise
mutations.py        what hypothesis does to real files, for fuzz.py
readers.py          every reader of JPO with a real file, for fuzz.py and its test
postgresql.py       a PostgreSQL server while it is needed, for store.py and for the tests
"""
