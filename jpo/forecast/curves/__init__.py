"""Learning curves of runs that go on: where they may end, by how far they have come and by how earlier runs went on from there.

curve.py         Curve, what is read off one after some of its epochs, and when these were done
"""
