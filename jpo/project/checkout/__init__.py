"""The checkout that a command finds: whose branch it is, and whether it has the values in force.

Pipelines commit nothing: every night's checkout has the committed values again. What was applied since is on record, and counts.
"""
