"""What plugins add to a project: their tables of jpo.toml (tables.py), and what they know of runs and queues (hooks.py)."""
