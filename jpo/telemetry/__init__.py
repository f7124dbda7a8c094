"""Finished runs of a workload, from Prometheus or from CSV logs.

    contract.py          names and units of the metrics and log lines that a training job reports
    outcome.py           measured values -> records.Run, by one set of rules for both sources
    doubts.py            runs that are used though their source contradicts itself, and runs that are no evidence
    learning_curve.py    its slope, from the validation losses of a run
    prometheus/          finished_runs: new runs found by one request and measured by a dozen
    csv/                 read_log: the same from files, complete or still being written
    running/             runs that go on: how far they are, and their progress so far
    diagnosis/           probes: why a server has no run of the workload
    recording_rules.yml  optional rules for Prometheus servers

It decides which runs are over and how they ended. It stores nothing.
"""
