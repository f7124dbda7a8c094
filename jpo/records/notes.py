"""Notes: sentences for people, each with what programs go by. Reasons, warnings, refusals and notices are notes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """Note for whoever reads a result. Code selects by `code` and `about`, never by the words of `text`.

    Attributes:
        code: what kind of note it is: a public reason code, e.g. "JPO-I602" (docs/codes.md), or a name that stays inside JPO.
        text: one sentence, free to be reworded.
        about: the parameter, quantity, run or file that it speaks of; empty: the workload as a whole.
    """

    code: str
    text: str
    about: str = ""
