"""Learning curves of runs that go on: where they may end, by how far they have come and by how earlier runs went on from there.

epochs.py        when its epochs were done, however its job counts them
curve.py         Curve, and what is read off one after some of its epochs
target.py        the epochs until a target, as a distribution
"""
