"""Account of one advice, put on record with it: what else could have been suggested, and why it was not.

    scene.py            the moment of the decision
    alternatives.py     configurations that were not chosen, and the objections to them
    single_effects.py   what each changed value is expected to do by itself
    counterfactuals.py  what would have led to another answer; which limits held a value back
    account.py          all of it, and the numbers that the agent saw

Everything is computed from the problem that was decided, by the rules that decided. It decides nothing itself.
"""

from jpo.optimizer.explain.account import Account, account_of

__all__ = ["Account", "account_of"]
