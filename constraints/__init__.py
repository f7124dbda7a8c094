"""Guard: may these values replace those? Standard library only; knows nothing of jpo, of the agent or of its weights.

    names.py             well-known option names; the text of a value -> a number
    limit.py             the limit of one parameter
    limits.py            limits: built-in defaults, and jpo.toml's tables; numbers.py: numbers in them
    unknown.py           unknown sections and keys, and the names that were meant; the tables that are checked for them
    own.py               parameters of a team's own, which it declares in [parameters]; words.py: their words as numbers
    sla.py               the targets of [sla]; a new one is a line there
    rules.py             one function per rule; RULES is the tuple of them
    counting.py          batch and GPUs that a file says per device and per node
    check.py             check(current, proposed, limits) -> Verdict
    clamp.py             the nearest values that obey every rule
    verdict.py           Violation, Verdict
    printable.py         text from files and programs, safe for terminals and CI logs; quoted.py: what messages repeat of files
    workload_checker.py  the team's own checker, run without a shell and within a time limit
    inifile.py           config.ini as the second look reads it
    settings_files.py    the files by whose limits jpo goes, and their tables laid over each other
    second_look.py       `python -m constraints before.ini after.ini`: the pipeline's independent check

The guard is asked twice: by `jpo suggest` before it writes, and by the pipeline on the two files, in a process of its own. The
folder runs when copied alone onto a machine that has nothing but Python: `python -I -S path/to/constraints before.ini after.ini`.
"""

from constraints.check import approves, check
from constraints.counting import Counting
from constraints.limits import Limits, limits_from
from constraints.rules import Facts
from constraints.verdict import Verdict, Violation

JPO_GUARD = "jpo"
"""Mark by which jpo recognises its own guard: another project on PyPI is also imported as `constraints`."""

__all__ = ["JPO_GUARD", "Counting", "Facts", "Limits", "Verdict", "Violation", "approves", "check", "limits_from"]
