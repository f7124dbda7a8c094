"""The apparatus of the benchmarks: what several of them need, and what measures nothing by itself.

stamp.py            date, machine and commit of a measurement
forecast_jobs.py    the jobs of forecasts.py
night_jobs.py       the jobs of nights.py: their truth, and the best of what is allowed
night_files.py      their config.ini, jpo.toml and logs
postgresql.py       a PostgreSQL server while it is needed, for store.py and for the tests
"""
