"""Tables of jpo.toml that take a file of their own: [prices], and the lines of [parameters]."""
