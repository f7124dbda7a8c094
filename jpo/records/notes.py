"""Notes: sentences for people, each with what programs go by. Reasons, warnings, refusals and notices are notes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Note:
    """Note for whoever reads a result. Code selects by `code` and `about`, never by the words of `text`.

    Attributes:
        code: what kind of note it is: a public reason code, e.g. "JPO-I602" (docs/codes.md), or a name that stays inside JPO.
        text: one sentence, free to be reworded.
        about: the parameter, quantity, run or file that it speaks of; empty: the workload as a whole.
        remedy: what to do, or what is made of it, with which the text ends; empty where it says so nowhere, or not at its end.
    """

    code: str
    text: str
    about: str = ""
    remedy: str = ""

    @property
    def finding(self) -> str:
        """The sentence without its remedy."""
        return self.text.removesuffix(f"; {self.remedy}")

    @property
    def cited(self) -> str:
        """The sentence with its code, where it has one."""
        return f"{self.text} [{self.code}]" if self.code else self.text


def advice(code: str, finding: str, remedy: str, about: str = "") -> Note:
    """Note of what was found and, if that is said, what to do."""
    return Note(code, f"{finding}; {remedy}" if remedy else finding, about, remedy)


def codes_of(notes: Iterable[Note]) -> tuple[str, ...]:
    """The public reason codes of notes, in their order, each as often as it is there."""
    return tuple(note.code for note in notes if note.code.startswith("JPO-"))


def texts_of(notes: Iterable[Note]) -> tuple[str, ...]:
    return tuple(note.text for note in notes)


def uncoded(texts: Iterable[str]) -> tuple[Note, ...]:
    """Notes of sentences by which nothing is selected."""
    return tuple(Note("", text) for text in texts)


def each_code_once(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Notes of which only the first with a code has it."""
    first: dict[str, Note] = {}
    return tuple(note if first.setdefault(note.code, note) is note else replace(note, code="") for note in notes)
