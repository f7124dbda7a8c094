"""Account of one advice, put on record with it: what else could have been suggested, and why it was not.

Everything is computed from the problem that was decided, by the rules that decided. It decides nothing itself.
"""
