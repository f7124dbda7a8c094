"""Workloads of a cluster: logs that others recorded, tables of training jobs, and traces that are drawn.

jobs.py        the table of jobs that all of them become
swf.py         the Standard Workload Format
lublin.py      jobs drawn at random, after Lublin and Feitelson
training_jobs.py  training jobs as CSV; convert.py: tables of other clusters as such jobs
demand.py      what each task of a job needs of a node; with how many tasks a job can run
"""
