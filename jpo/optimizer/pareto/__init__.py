"""What `jpo pareto` shows: which configurations are best at something, and what lies between them."""
