"""Decisions while a run goes on: pure functions of what is known of it. Who watches carries them out, or only says them.

progress.py      RunProgress, the run so far; Rival, the run to beat
stop.py          whether it can still win, and what going on is worth against stopping
divergence.py    whether its losses are no numbers any more
final_error.py   the error after the last epoch, as a distribution; end_of_curve.py: how long the rest may take
release.py       memory, CPUs and GPUs that it was given and does not use
adjustment.py    Adjustment: a decision with its reason, what was expected of it and what came of it; the pause between two
"""
