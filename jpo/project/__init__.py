"""One repository's own things, opened once: settings, store, prices, limits, sources of runs.

Only this package reads settings; all others get the values they need.
"""
