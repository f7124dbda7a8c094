"""Finished runs from a Prometheus server: what is new is discovered by one request and measured by a dozen."""
