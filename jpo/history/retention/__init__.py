"""What the store keeps of old runs: which of them are still needed (needed.py), and forgetting the others (forget.py)."""
