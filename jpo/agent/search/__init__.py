"""Search for the best model of N runs: what it knows of candidates, and candidates in a large space."""
