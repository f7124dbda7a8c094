"""Options and help of `jpo init`, `jpo comment` and `jpo persist`."""
