"""The values in force as a merge request: title, text, branch and commit message.

Title, branch and message are read by machines that obey words in them (closing issues, skipping pipelines, mentions): of a name
they have letters, digits and underscores alone. The text is that of the note (comment.py), which nothing can break out of.
"""

import hashlib
import re
from pathlib import PurePosixPath

from jpo.history.canonical import canonical
from jpo.plugins.ci.report import comment
from jpo.plugins.ci.report.comment import Comment
from jpo.records import Suggestion
from jpo.report.forms import markdown

LONGEST_SLUG = 40
LEAD = """\
The training job runs with these values, which earlier suggestions have left in force; the committed ones are older. To merge this
makes them the committed ones. To close it means no: the same values are not proposed again. Commits of yours on this branch are
left alone, and so is the branch from then on. Below is the last suggestion; the diff may span several."""


def slug(suggestion: Suggestion) -> str:
    """The workload in letters, digits and underscores."""
    return words(str(suggestion.identity)) or "job"


def words(text: str) -> str:
    """The beginning of a text in letters, digits and underscores."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower())[:LONGEST_SLUG].strip("_")


def branch(suggestion: Suggestion, file: str) -> str:
    """The branch of this workload and its config.ini, which no other one has.

    `file`: config.ini within the project: a workload may have several.
    """
    return f"jpo/{slug(suggestion)}.{comment.digest(suggestion, file)[:12]}"


def title(suggestion: Suggestion, file: str) -> str:
    """The same every night, so that who gets mails of changes gets none for that."""
    folder = words(str(PurePosixPath(file).parent))
    return f"JPO: values in force for {slug(suggestion)}" + (f" in {folder}" if folder else "")


def message(suggestion: Suggestion) -> str:
    """Of the commit."""
    known = re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{6}", suggestion.suggestion_id)
    return f"Values in force for {slug(suggestion)}" + (f"\n\nJPO-Suggestion: {known[0]}" if known else "")


def values(suggestion: Suggestion) -> str:
    """Digest of the values: the same suggestion has the same, whenever and for whatever reason it is made."""
    return hashlib.sha256(canonical(dict(suggestion.values.suggested)).encode()).hexdigest()[:32]


def text(note: Comment) -> str:
    """The text, without its marker."""
    link = f"\n{markdown.link('Report and log', note.link)}\n" if note.link else ""
    lead = LEAD.replace("\n", " ")
    return f"{lead}\n\n{markdown.render(comment.document(note))}{link}"
