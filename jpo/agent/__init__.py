"""Decision of the next candidate: soft actor-critic over the belief, or keep.

In the order of the story: action.py makes the configurations between which to choose, preference.py one objective of several,
and acquisition.py weighs each candidate, with the belief rule. budget.py says what is left to spend, context.py what else is
known of the next run. problem.py holds all of it, state.py encodes it for the networks, policy.py runs them in numpy. decide.py
answers, and reasons.py says why. safety/ says what may be run, reward.py what a run was worth; sac/ learns (torch, imported only
when called for), alternatives/ has policies that a user can name instead, weights/ the shipped policy and its model card.

Nothing here knows how jobs are simulated or how a belief is formed: Candidates and Belief come in as values.
"""
