"""Traces as files: tables with a row per sample, and what Grafana and Prometheus export, read as they are.

read.py        files of any of these kinds as one set of traces
rows.py        rows of CSV with the numbers of their lines; cells.py: what a cell says; dates.py: when
units.py       units: those that a column's name or the size of a time says
columns.py     which column has which quantity
table.py       a row per sample; plain.py: one of plain numbers, all at once
graphs.py      Grafana's panels, a column or a row per series; answers.py: Prometheus' JSON
series.py      a series as exported, with its name and labels
quantities.py  what a series measures
executions.py  of which execution it is
join.py        series of several quantities and files as executions
"""
