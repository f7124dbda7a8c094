"""What the confidence of a suggestion is about, and what was done to config.ini, in the words of the lines that show it."""

from __future__ import annotations

from jpo.records import LOSS_KEPT, Suggestion
from jpo.wording import numbers


def with_confidence(suggestion: Suggestion) -> str:
    """The confidence and what it is about; empty where it is unknown."""
    return "" if suggestion.confidence is None else f"confidence {numbers.confidence(suggestion.confidence)}{of(suggestion)}"


def what_was_done(suggestion: Suggestion, *, written: bool) -> str:
    """What became of config.ini; a checkout may have older values than those that were kept or changed.

    Args:
        written: whether it holds the suggested values now.
    """
    done, count = "written" if written else "not written", numbers.counted(len(suggestion.changes), "value")
    if suggestion.status == "kept":
        return f"the values in force are kept, and {done}" if suggestion.changes_file else "kept as it is"
    return f"{count} {done}" if suggestion.changes_file else f"{count} back at what the file has"


def of(suggestion: Suggestion) -> str:
    """What the confidence of a trial is about, and the chance that it leaves out; nothing of other changes."""
    if "JPO-I640" in suggestion.codes:
        return " that it lowers the validation loss"
    if "JPO-I604" not in suggestion.codes:
        return ""
    if (kept := suggestion.seen.get(LOSS_KEPT)) is None:
        return " that it ends well and is no more than a tenth worse"
    return f" that it ends well and costs no more than a tenth more, {numbers.percent_in_words(kept)} that it keeps the loss"
