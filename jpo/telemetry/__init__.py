"""Finished runs of a workload, read from Prometheus or from CSV logs.

    contract.py      the names and units of the metrics and log lines which a training job reports
    prometheus.py    finished_runs: discovery by one request, then a dozen batch queries for what is new
    client.py        the guard layer around prometheus-api-client: deadline, retries, redirects
    answers.py       which answers of a server are believed
    source.py        PrometheusSource: address, credentials, deadline
    csvlog.py        read_log, read_logs: the same runs from files
    measured.py      what either source measured -> records.Run

It decides which runs are over and how they ended. It stores nothing and never asks what other parts want.
"""

from jpo.telemetry.csvlog import read_log, read_logs
from jpo.telemetry.prometheus import finished_runs
from jpo.telemetry.source import PrometheusSource

__all__ = ["PrometheusSource", "finished_runs", "read_log", "read_logs"]
