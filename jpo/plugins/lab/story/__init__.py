"""What `jpo simulate`, `jpo replay` and `jpo logs` do."""
