"""Names as a label of Kubernetes can hold them: one rule for who writes labels of pods and who reads them."""

import hashlib
import re
import unicodedata

LONGEST_LABEL = 63
"""Characters of a Kubernetes label's value."""
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
"""What a Kubernetes label can hold (it may be empty, too, which says nothing)."""
DIGEST = 8
"""Hexadecimal digits that tell apart two names whose slugs would be the same for what a label cannot hold."""


def slug(name: str) -> str:
    """A name of config.ini as a label can hold it, in small letters: "meta-llama/Llama-2 7B" -> "meta-llama-llama-2-7b".

    The slug of a slug is itself, and of a label what the label says, however it writes its separators and capitals. A name that
    is too long, or has letters that no label can hold, ends with a digest of the whole: two such names must not be one workload.
    """
    folded = unicodedata.normalize("NFKD", name)
    plain = "".join(c for c in folded if not unicodedata.combining(c))
    result = "-".join(re.findall(r"[a-z0-9]+", plain.lower()))
    lost = any(c.isalnum() and not c.isascii() for c in plain)
    if result and len(result) <= LONGEST_LABEL and not lost:
        return result
    digest = hashlib.sha256(name.encode()).hexdigest()[:DIGEST]
    return "-".join(filter(None, (result[: LONGEST_LABEL - DIGEST - 1].rstrip("-"), digest)))
