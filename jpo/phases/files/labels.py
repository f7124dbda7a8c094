"""Names of series as Prometheus and Grafana write them: a metric with labels in braces, or a legend."""

from __future__ import annotations

import re

LABEL = re.compile(r'"?(?P<name>[A-Za-z_][A-Za-z0-9_.]*+)"? ?[=:] ?(?:"(?P<quoted>(?:[^"\\]|\\.)*+)"|(?P<plain>[^",;{}=]*+))')
METRIC = re.compile(r"[A-Za-z_:][A-Za-z0-9_:.]*")


def named(title: str) -> tuple[str, dict[str, str]]:
    """A metric's name and its labels; a legend is a name without labels."""
    title = title.strip()
    name, brace, rest = title.partition("{")
    if not brace or not rest.endswith("}") or (name and not METRIC.fullmatch(name.strip())):
        return title, {}
    found = labels_of(rest[:-1])
    if found is None:
        return title, {}
    return name.strip() or found.get("__name__", ""), found


def labels_of(text: str) -> dict[str, str] | None:
    """`a="1", b="2"`, the same as JSON, or a=1;b=2, with braces or without; None: it is none of these."""
    text = text.strip().removeprefix("{").removesuffix("}").strip()
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        if text[at] in " ,;":
            at += 1
            continue
        label = LABEL.match(text, at)
        if label is None:
            return None
        quoted = label["quoted"]
        found[label["name"]] = label["plain"].strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        at = label.end()
    return found
