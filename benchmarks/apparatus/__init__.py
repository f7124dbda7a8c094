"""The apparatus of the benchmarks: what several of them need, and what measures nothing by itself.

stamp.py            date, machine and commit of a measurement
forecast_jobs.py    the jobs of forecasts.py
postgresql.py       a PostgreSQL server while it is needed, for store.py and for the tests
"""
