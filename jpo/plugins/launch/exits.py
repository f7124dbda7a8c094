"""Exits of processes in plain words, the same whichever engine ran them. Standard library only: supervisors of runs import it."""

import signal

BEYOND_ARE_SIGNALS = 128
"""Above it a shell, and a container's runtime, tell of the signal that ended a process."""
OF_A_SHELL = {126: "a command cannot be executed", 127: "a command was not found"}


def in_words(code: int) -> str:
    """How a process ended: "exit code 3", "ended by SIGSEGV"; negative codes are signals, as Python has them.

    One above 128 may be a program's own: then both are said.
    """
    if code < 0:
        return f"ended by {_signal(-code)}"
    if code in OF_A_SHELL:
        return f"exit code {code} ({OF_A_SHELL[code]})"
    if code - BEYOND_ARE_SIGNALS in signal.valid_signals():
        return f"ended by {_signal(code - BEYOND_ARE_SIGNALS)} (exit code {code})"
    return f"exit code {code}"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time one
        return f"signal {number}"
