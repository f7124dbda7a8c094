"""What `jpo phases` does; jobs.py: what it knows of executions as jobs of a cluster."""
