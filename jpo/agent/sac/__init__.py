"""Soft actor-critic in torch: over a set of candidates and on a box; replay, checkpoint, and alternatives for comparison."""
