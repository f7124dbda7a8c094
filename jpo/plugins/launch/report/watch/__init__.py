"""Runs that go on: those that were launched (launched.py), and one that is watched (watched.py)."""
