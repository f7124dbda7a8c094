"""What the store keeps of old runs, and forgets."""
