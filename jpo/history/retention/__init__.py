"""What the store keeps of old runs: which of them still tell something (needed.py), and forgetting the others (forget.py)."""
