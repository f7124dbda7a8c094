"""Finished runs from CSV logs, whether complete or still being written."""
