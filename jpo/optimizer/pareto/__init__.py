"""What `jpo pareto` shows: which configurations are best at something, and what lies between them.

tradeoff.py      measured and predicted points; front.py: the record of them; choices.py: the agent's under other preferences
"""
