"""Options and help of `jpo phases`."""
