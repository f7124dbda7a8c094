"""Tables of jpo.toml that are long enough for a module of their own."""
