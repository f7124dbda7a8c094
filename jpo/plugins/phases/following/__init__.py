"""A run that goes on: follower.py, its phase and request sample by sample; cgroup.py, measured.py: where samples come from."""
