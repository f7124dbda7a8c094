"""Near-identical workloads: the same name written in another way, and the line of jpo.toml that joins them.

Only spelling counts: upper and lower case, separators, blanks, the organisation before a model, and a framework's two names.
resnet50 and resnet101, cifar10 and cifar100, gpt2 and gpt2-xl, v1 and v2 are different things, and never alike here.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

from jpo.records import Identity, Note, advice
from jpo.wording.numbers import counted

NEAR_IDENTICAL = "JPO-W163"
FRAMEWORKS = {"torch": "pytorch", "tf": "tensorflow", "sklearn": "scikitlearn", "pytorchlightning": "lightning"}
"""Names that mean the same framework, without separators."""
MOST_NAMED = 3
LONGEST_NAME = 200
"""Characters of a name; longer ones are compared as they are."""


def near_identical(identity: Identity, others: Iterable[Identity]) -> list[Identity]:
    """Those of the others that are the same but for spelling, in the order given."""
    key = _key(identity)
    return [other for other in dict.fromkeys(others) if other != identity and _key(other) == key]


def joining(identity: Identity, other: Identity) -> str:
    """The lines under [workload.aliases] in jpo.toml with which the other's runs count as this workload's own."""
    pairs = ((part, value) for part, value in other.labels.items() if value != identity.labels.get(part, value))
    escaped = ((part, value.replace("\\", "\\\\").replace('"', '\\"')) for part, value in pairs)
    return ", ".join(f'{part} = ["{text}"]' for part, text in escaped)


def sentences(identity: Identity, seen: Mapping[Identity, int], where: str) -> tuple[Note, ...]:
    """What reports say of near-identical workloads; about: the lines that join them.

    `seen` has the number of runs of each other workload, `where` says where these were seen, such as "on record".
    """
    found = near_identical(identity, seen)
    named = []
    for other in found[:MOST_NAMED]:
        runs = counted(seen[other], "run")
        text = f"{runs} {where} {'is' if seen[other] == 1 else 'are'} of '{other}', and this workload is '{identity}'"
        lines = joining(identity, other)
        remedy = f"if they are the same, write {lines} under [workload.aliases] in jpo.toml"
        named.append(advice(NEAR_IDENTICAL, text, remedy, lines))
    return tuple(named)


def _key(identity: Identity) -> tuple[str | None, ...]:
    framework = _plain(identity.framework)
    hardware = None if identity.hardware is None else _plain(identity.hardware)
    return _plain(identity.dataset), _plain(identity.model), FRAMEWORKS.get(framework, framework), hardware


@lru_cache(maxsize=4096)  # the workloads of a store have many names in common
def _plain(name: str) -> str:
    """A name without what is only spelling. A separator between two digits stays: 1.5 is not 15."""
    if len(name) > LONGEST_NAME:
        return name
    text = unicodedata.normalize("NFKC", name).casefold().strip().rstrip("/").rpartition("/")[2]
    parts = [part for part in re.split(r"[\W_]+", text) if part]
    joined = ""
    for part in parts:
        joined += ("." if joined[-1:].isdigit() and part[0].isdigit() else "") + part
    return joined or text
