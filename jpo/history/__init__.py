"""History of a team: runs, suggestions and agent state in one store, with the append-only audit log next to them.

opening.py         open_store: from a URL to a Store
store.py           Store: statements about runs and agents, for every database; decision_log.py: suggestions and audit log
rows.py            records -> columns and back
database.py        Database: what the statements need; sqlite.py and postgres/ fulfil it
migrations.py      the schema of SQLite; failures.py: errors of SQLite and the file system
runs.py            recorded runs; series.py: time series as bytes; figures.py: statistics by workload
following/         runs that took a suggestion's values, that contradict it, and that do not say
retention/         what the store keeps of old runs
audit.py           the audit log's hash chain; events.py: what goes into it
archive.py         the whole history as JSON Lines; canonical.py: JSON with one form
unsettled.py       changes of which only config.ini says whether they were written
undo.py            which changes are in force, what was before them, and what is pinned
"""

from jpo.history.audit import AuditEvent, AuditRecord, AuditRow, Verification, verify
from jpo.history.canonical import Json
from jpo.history.opening import open_store
from jpo.history.runs import RecordedRun, latest_start
from jpo.history.store import Store
