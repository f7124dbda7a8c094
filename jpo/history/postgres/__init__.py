"""The history on a PostgreSQL server.

session.py    from a URL to an open connection
transactions.py  transactions, locks, migration
preview.py    changes that are not kept, laid over the tables
watchdog.py   no waiting for a server that has stopped answering
schema.py     the tables, step by step
server_failures.py  the server's errors as StoreErrors
teams.sql     for an administrator: several teams in one store
"""
