"""Which candidate next: soft actor-critic over the belief, or keep.

In the order of the story:

    action.py         the configurations between which to choose
    preference.py     several objectives -> one
    prospects.py      what the belief promises of each candidate, and the belief rule; knowledge.py: what a trial would teach
    rows.py           which row of the candidates a configuration or a run is
    spent.py          what following the agent has cost so far
    situation.py      what is known beside the belief: runs and budget left, what will change, what has changed
    change.py         whether the forecasts miss as they do when the world has changed
    state.py          all of it as WIDTH numbers per candidate, which the networks read
    policy.py         actor and critics in numpy: all that a suggestion needs
    decide.py         the answer: one candidate, or keep; reasons.py: why
    setback.py        whether the last change did harm and is to be undone
    reward.py         what a run was worth
    replay_buffer.py, networks.py, sac.py, learn.py, checkpoint.py    learning (torch, imported only when called for)
    sealed.py         files that notice damage: policies and checkpoints
    box.py, box_replay.py, squashed_gaussian.py    the same core for actions in a box: what it is compared with others by
    reinforce.py, mc_dropout.py    alternatives, for comparison only
    release.py        the test that a policy must pass before it may decide
    weights/          the shipped policy and its model card

Nothing here knows how jobs are simulated or how a belief is formed: Candidates and Belief come in as values.
"""
