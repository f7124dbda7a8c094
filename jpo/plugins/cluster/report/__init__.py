"""What the cluster lab has to say: evaluation.py, description.py, standings.py of agents; batsim.py as Batsim writes it."""
