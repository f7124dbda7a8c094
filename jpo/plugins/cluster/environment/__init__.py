"""The cluster as an environment for agents.

rewards.py       what a step cost, in every metric at once
episode.py       decisions on a platform, one by one; no gymnasium needed
observation.py   what an agent sees: a fixed number of figures, whatever the platform
gym.py           the same as a Gymnasium environment
"""
