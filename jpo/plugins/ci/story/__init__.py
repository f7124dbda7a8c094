"""What `jpo init`, `jpo comment` and `jpo persist` do."""
