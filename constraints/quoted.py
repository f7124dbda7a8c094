"""What messages repeat of files: numbers, names and short words, else the length alone; as jpo/errors.py, which a test compares.

A file that somebody names may be any: a private key, a table of passwords.
"""

from __future__ import annotations

import re

LONGEST = 64
"""Characters of what is repeated: the keys of config.ini have thirty."""
WORD = r"(?>(?:[A-Za-z]{1,20}|[A-Za-z]{0,5}[0-9]{1,2}|[A-Za-z]?[0-9]{1,4})(?![A-Za-z0-9]))"
"""Letters, or a few with a short number behind them: batch, lr0, fp16, A100."""
KNOWN = re.compile(
    r"[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?\s?[A-Za-z%]{0,6}"  # a number, with a unit: 1,5 16 GiB 90% 1e-3
    rf"|[-_]*+{WORD}(?:[_./:-]++{WORD})*+"  # a name: training.batch_size
)


def quoted(found: object) -> str:
    """What was found in a file, for a message: 'auto' and -1.5 as they are, anything else as <20 characters>."""
    if isinstance(found, list | tuple | dict) and found:
        return f"<a {'table' if isinstance(found, dict) else 'list'} of {len(found)}>"
    text = found if isinstance(found, str) else str(found)
    if not found or (len(text) <= LONGEST and KNOWN.fullmatch(text)):
        return repr(text) if isinstance(found, str) else text
    return f"<{len(text)} characters>"
