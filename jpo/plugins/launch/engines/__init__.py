"""The engines that a run may start on. A further one takes a folder here, its name in OWN, its table in settings.py, and how it
is made in project/engines.py (WITH_THIS_PYTHON in project/command.py, where it shares files with this machine); or a package of
its own that names it under GROUP: function(settings, surroundings) -> Launcher.
"""

OWN = ("local", "slurm", "kubernetes", "aws")
"""Names of JPO's own engines."""
GROUP = "jpo.engines"
"""Entry points of others' engines."""
