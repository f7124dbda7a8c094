"""Safety of a decision: what is not written although the belief likes it, and the way out of failure.

    vetoes.py     what holds candidates back now: failures, memory, resources that nobody named, validation loss, confidence
    failing.py   which values fail more often than chance would have it
    host_memory.py  what a job needs of the host's memory
    confidence.py  the chance of what a suggestion claims: better than today, with the validation loss kept
    promise.py    a promised validation loss that today's values break
    queue_ahead.py  what the engine says of runs that are submitted now: more than one may have, or too late for a deadline
    distances.py  how far trials keep from what missed, and that there is a way back to the best
    exploration.py  whether something untried is to be run next, and which rows may be run at all
    recovery.py   which step to take while no run has ended well
    risk.py       the chance that a run does harm: that it fails or is more than a tenth worse
    setback.py    whether the last change did harm and is to be undone

All of it says which rows may be run, never which of them is liked: belief rule and policy choose among the same.
"""
