"""Workloads of a cluster: logs that others recorded, tables of training jobs, and traces that are drawn.

jobs.py        the table of jobs that all of them become
swf.py         the Standard Workload Format
lublin.py      jobs drawn at random, after Lublin and Feitelson
"""
