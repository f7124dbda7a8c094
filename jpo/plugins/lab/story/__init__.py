"""What `jpo lab simulate`, `jpo lab replay` and `jpo lab logs` do."""
