"""Options and help of `jpo simulate`, `jpo replay` and `jpo logs`."""
