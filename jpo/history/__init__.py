"""History of a team: runs, suggestions and agent state in one store, with the append-only audit log next to them.

store.py           Store: what every store promises; open_store(url) opens one
sql.py             SqlStore: the statements, for every database; rows.py: records -> columns and back
database.py        Database: what the statements need; sqlite.py and postgres/ fulfil it; copy_on_write.py for reading only
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
from jpo.history.runs import RecordedRun, latest_start
from jpo.history.store import Store, open_store
