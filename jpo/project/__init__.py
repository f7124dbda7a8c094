"""One repository's own things, opened once: its settings, store, prices, limits and sources of runs. Only this package reads settings."""
