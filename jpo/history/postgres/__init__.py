"""The history on a PostgreSQL server."""
