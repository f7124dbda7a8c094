"""Runs that JPO launches, as people and programs read them."""
