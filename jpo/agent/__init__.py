"""Decision of the next candidate: soft actor-critic over the belief, or keep.

In the order of the story:

    action.py               the configurations between which to choose; candidate_rows.py: which row of them one or a run is
    preference.py           several objectives -> one
    acquisition.py          acquisition values of each candidate, and the belief rule; horizon.py: the runs it looks ahead
    budget.py               what following the agent has cost so far, and what is left to spend
    context.py              what else is known of the next run: runs and money left, what will change, what has changed
    change_detection.py     whether the forecasts miss as they do when the world has changed
    comparison.py           the candidates weighed against each other; problem.py: all that rule, SAC and explanation read
    state.py                the problem as WIDTH numbers per candidate, which the networks read
    residuals.py            what earlier jobs of this installation say, which no simulated job does
    policy.py               an ensemble of critics in numpy: all that a suggestion needs
    decide.py               the answer: one candidate, or keep; reasons.py: why; policy_override.py: what SAC did
    safety/                 what may be run: vetoes, the chance of what is claimed, the way out of failure
    reward.py               what a run was worth
    sealed.py               files that notice damage: policies and checkpoints
    sac/                    learning (torch, imported only when called for)
    alternatives/           policies which a user can name instead of SAC
    weights/                the shipped policy and its model card

Nothing here knows how jobs are simulated or how a belief is formed: Candidates and Belief come in as values.
"""
