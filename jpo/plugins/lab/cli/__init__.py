"""Options and help of `jpo lab simulate`, `jpo lab replay` and `jpo lab logs`."""
