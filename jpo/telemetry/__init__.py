"""Finished runs of a workload, read from Prometheus or from CSV logs.

    contract.py      the names and units of the metrics and log lines which a training job reports
    prometheus.py    finished_runs: what is new, in chunks; discovery.py: which runs are over, by one request
    measuring.py     all new runs of a chunk at once, by a dozen requests; queries.py: their texts; look.py: one question
    told.py          what runs say of themselves
    cluster.py       what cAdvisor and GPU exporters say of pods; lives.py: how these lived; joined.py: of the run in them
    traces.py        single samples of the newest runs: percentiles and courses
    names.py         what metrics and labels are called, by default and at a site; recording_rules.yml: optional, for servers
    client.py        the questions, by prometheus-api-client; session.py: its guard: deadline, retries, redirects
    answers.py       which answers of a server are believed
    source.py        PrometheusSource: address, credentials, deadline; tls.py: certificates; sigv4.py: signatures for AWS
    probes.py        why a server told of no run; inquiry.py: what probes ask with; coverage.py: those of the cluster; near.py
    csvlog.py        read_log: the same runs from files; folder.py: from many; follow.py: from one that is still written
    measured.py      what either source measured -> records.Run

It decides which runs are over and how they ended. It stores nothing and never asks what other parts want.
"""

from jpo.telemetry.csv.folder import log_files, read_each, read_logs
from jpo.telemetry.csv.log import read_log
from jpo.telemetry.prometheus.runs import finished_runs
from jpo.telemetry.prometheus.source import PrometheusSource

__all__ = ["PrometheusSource", "finished_runs", "log_files", "read_each", "read_log", "read_logs"]
