"""JPO as a library: ask for the next configuration, tell what came of it."""
