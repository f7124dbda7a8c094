"""What `jpo phases` says: fitted.py of phases in traces, standings.py of allocations beside their peers."""
