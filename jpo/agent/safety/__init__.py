"""Safety of a decision: what is not written although the belief likes it, and recovery from failure.

All of it says which rows may be run, never which of them is liked: belief rule and policy choose among the same. vetoes.py holds
candidates back one by one, exploration.py says whether anything untried is run, recovery.py and setback.py are the ways back.
risk.py is the chance of harm: acquisition.py asks for the shown one, exploration.py for what may be tried.
"""
