"""The engines that a run may start on; each follows launcher.py's contract."""
