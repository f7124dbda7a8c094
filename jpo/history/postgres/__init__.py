"""The history on a PostgreSQL server.

database.py   connection, transactions, migration
schema.py     the tables, step by step
failures.py   the server's errors as StoreErrors
teams.sql     for an administrator: several teams in one store
"""
