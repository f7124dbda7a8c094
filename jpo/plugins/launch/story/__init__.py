"""What `jpo run`, `jpo watch` and `jpo optimize` do."""
