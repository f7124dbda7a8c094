"""What the cluster lab has to say: evaluation.py, description.py, standings.py of agents; plots.py draws a schedule."""
