"""Tables of jpo.toml that take a file of their own: [parameters], [prices], and what is promised: [sla] and [metric]."""
