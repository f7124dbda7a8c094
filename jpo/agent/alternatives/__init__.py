"""Alternatives to SAC which a user can name, most of them of earlier systems: to compare, and for who wants them.

    named.py     policy by name
    judges.py    what REINFORCE, MC-dropout, one policy per objective, and choice by SLA status make of the critics
    steering.py  a continuous SAC that sets the belief rule's horizon

None was put in charge by the release test; one decides only where the user names it.
"""
