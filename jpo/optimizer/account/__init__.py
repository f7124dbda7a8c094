"""What came of the suggestions, for those who answer for them: figures from the runs on record, none from a belief.

before_and_after.py  which runs are from before the first change, and which came of it
savings.py       time and money less than without JPO; rewards.py: what each run was worth to the agent
configurations.py  what was measured of each configuration, and which of them nothing beats
"""
