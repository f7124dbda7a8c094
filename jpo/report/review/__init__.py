"""`jpo report`: what JPO did with every workload of a store and what came of it, for a team lead and for an audit.

record.py    the figures, as the command has gathered them
sections.py  the report for people: totals, a section per workload, the audit log; charts.py: its pictures
published.py the JSON document; tables.py: the CSV files
"""

from jpo.report.review.published import as_json
from jpo.report.review.sections import document

__all__ = ["as_json", "document"]
