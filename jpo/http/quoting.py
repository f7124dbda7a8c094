"""What a server says, quoted: in one line, and without any secret that this process sends. No message repeats it otherwise.

Who opens a connection says here which secrets it sends. They are one set for the whole process, so that none is repeated whoever
says it, and no reader of an answer needs to know them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from jpo.wording.printable import one_line

LONGEST = 200
"""Characters of a server's own words that are repeated in a message."""
SHORTEST_SECRET = 4
"""Characters; hiding shorter ones would blank out ordinary words of a message, and protect nothing."""
HIDDEN = "***"
SIGNATURE = re.compile(r"AWS4-HMAC-SHA256 Credential=\S+ SignedHeaders=\S+ Signature=\w+")
"""A signed request's Authorization: another one each time."""
_sent = set[str]()


def keep_secret(*texts: str | None) -> None:
    """Keep texts out of all quotes from now on: they are about to be sent."""
    _sent.update(text for text in texts if text and len(text) >= SHORTEST_SECRET)


def hidden(text: str, secrets: Iterable[str] | None = None) -> str:
    """A text without secrets, in upper or lower case; those that are sent, if no others are given."""
    whole_first = sorted(tuple(_sent) if secrets is None else secrets, key=len, reverse=True)  # one may begin another
    text = SIGNATURE.sub(HIDDEN, text)
    return re.sub("|".join(map(re.escape, whole_first)), HIDDEN, text, flags=re.IGNORECASE) if whole_first else text


def quote(*said: object, longest: int = LONGEST) -> str:
    """A server's words, each part once, safe for one line of a terminal; secrets are hidden before it is cut."""
    return one_line(*(hidden(str(part)) for part in said), longest=longest, more="…")
