"""Options and help of `jpo run`, `jpo watch` and `jpo optimize`."""
