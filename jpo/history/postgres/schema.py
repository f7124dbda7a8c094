"""Schema of the PostgreSQL store as numbered steps, up to the sixth those of migrations.py: the same tables in PostgreSQL's SQL.

Names have no limit in length, but a B-tree's entries have; so what identifies a row is unique by its 64-bit hashes. Text sorts by
its bytes ("C"), as in SQLite. The version is kept in a table of its own. Steps that only add columns are SQLite's.
"""

from pathlib import Path

from jpo.history import migrations
from jpo.history.migrations import statements_of

SCHEMA = "jpo"
"""The schema of the tables, next to anything else in the database."""
CREATE = ("CREATE TABLE jpo.schema_version (version INTEGER NOT NULL)", "INSERT INTO jpo.schema_version VALUES (0)")
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (),  # SQLite alone had version 1
    statements_of(Path(__file__).with_name("step_2.sql")),
    (
        *(
            f"ALTER TABLE {table} ADD COLUMN hardware TEXT COLLATE \"C\" NOT NULL DEFAULT ''"
            for table in ("suggestions", "runs", "watermarks", "audit")
        ),
        "DROP INDEX runs_are_recorded_once",
        """
        CREATE UNIQUE INDEX runs_are_recorded_once ON runs (
            hashtextextended(dataset, 0), hashtextextended(model, 0), hashtextextended(framework, 0),
            hashtextextended(hardware, 0), hashtextextended(run_id, 0)
        )
        """,
        "DROP INDEX watermarks_stand_once",
        """
        CREATE UNIQUE INDEX watermarks_stand_once ON watermarks (
            hashtextextended(dataset, 0), hashtextextended(model, 0), hashtextextended(framework, 0),
            hashtextextended(hardware, 0), hashtextextended(source, 0)
        )
        """,
    ),
    *(
        tuple(each.replace(" REAL", " DOUBLE PRECISION") for each in step if each.startswith("ALTER TABLE"))
        for step in migrations.MIGRATIONS[3:6]
    ),
    tuple(f"CREATE INDEX {table}_by_model ON {table} USING hash (model)" for table in ("suggestions", "runs", "audit")),
)
