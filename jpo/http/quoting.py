"""What a server says, quoted: in one line, and without a secret. No message repeats it otherwise."""

from jpo.wording.hidden import hidden
from jpo.wording.printable import one_line

LONGEST = 200
"""Characters of a server's own words that are repeated in a message."""


def quote(*said: object, longest: int = LONGEST) -> str:
    """A server's words, each part once, safe for one line of a terminal; secrets are hidden before it is cut."""
    return one_line(*(hidden(str(part)) for part in said), longest=longest, more="…")
