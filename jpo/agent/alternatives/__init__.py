"""Alternatives to SAC which a user can name, most of them of earlier systems: to compare, and for who wants them.

None was put in charge by the release test; one decides only where the user names it.
"""
