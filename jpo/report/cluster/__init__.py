"""What the cluster lab has to say: evaluation.py."""
