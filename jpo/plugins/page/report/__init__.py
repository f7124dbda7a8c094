"""`jpo report`: what JPO did with every workload of a store and what came of it, for a team lead and for an audit.

record.py    the figures, as the command has gathered them
answer.py    what JPO brought, in a sentence, and where it cost more
sections.py  the report for people: totals, a section per workload, the audit log; charts.py: its pictures
published.py the JSON document; tables.py: the CSV files
"""

from jpo.plugins.page.report.published import as_json
from jpo.plugins.page.report.sections import document

__all__ = ["as_json", "document"]
