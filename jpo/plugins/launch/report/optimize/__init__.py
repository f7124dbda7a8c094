"""`jpo optimize`: each job's baseline against the runs with suggested values, run by run and in all.

preview.py  the plan: the next run of each job
record.py   what the command has gathered
result.py   the tables for people, and the published JSON and CSV
"""
