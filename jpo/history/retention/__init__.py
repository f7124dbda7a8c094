"""What the store keeps of old runs: which of them still tell something (telling.py), and forgetting the others (forget.py)."""
