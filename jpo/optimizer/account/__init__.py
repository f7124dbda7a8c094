"""What came of the suggestions, from the runs on record alone.

before_and_after.py  which runs are from before the first change, and which came of it
"""
