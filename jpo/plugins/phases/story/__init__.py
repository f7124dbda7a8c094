"""What `jpo phases` does."""
