"""One record of the audit log as a sentence for people: what happened, and who did it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from jpo.wording import numbers
from jpo.wording.names import DECIDERS

Data = Mapping[str, Any]
"""What the record says; history/events.py writes it."""


def in_words(kind: str, data: Data) -> str:
    """What happened; a record that says something else than this version writes is shown as it stands."""
    try:
        return _SENTENCES[kind](data)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, OSError):
        return json.dumps({name: value for name, value in data.items() if name != "by"}, sort_keys=True, ensure_ascii=False)


def maker(data: Data) -> str:
    """Who did it and where to look further, from what a record says of its maker; empty where it says nothing."""
    by = data.get("by")
    if not isinstance(by, Mapping):
        return ""
    said = {name: str(text) for name, text in by.items()}
    if said.get("where") == "local":
        return f"{said.get('user')}@{said.get('host')}"
    return " ".join(said[name] for name in ("user", "where", "url") if name in said)


def _suggested(data: Data) -> str:
    changes = ", ".join(f"{one['key']} {one['old']} → {one['new']}" for one in data["changes"])
    sure = "" if data.get("confidence") is None else f", confidence {numbers.confidence(data['confidence'])}"
    return f"{changes}; decided by {DECIDERS[data['decided_by']]}{sure}{_expected(data)} ({data['suggestion_id']})"


def _expected(data: Data) -> str:
    now, then = (data.get("forecast", {}).get(when, {}).get("duration_seconds") for when in ("now", "next"))
    return f", {numbers.duration(now['mean'])} → {numbers.duration(then['mean'])} expected" if now and then else ""


def _rolled_back(data: Data) -> str:
    changes = ", ".join(f"{one['key']} {one['old']} → {one['new']}" for one in data["changes"])
    what = f"{changes or data['config'] + ' as it is'}, as before {data['undoes']}" if data["undoes"] else "pins are lifted"
    until = data.get("pinned_until")
    pinned = f", pinned until {datetime.fromtimestamp(until, UTC).date()}" if until is not None else ""
    return f"{what}{pinned} ({data['suggestion_id']})"


def _kept(data: Data) -> str:
    reason = next(iter(data.get("reasons", ())), f"decided by {DECIDERS[data['decided_by']]}")
    return f"{data['config']} as it is: {reason} ({data['suggestion_id']})"


def _refused(data: Data) -> str:
    now = data["current"]
    changes = [f"{name} {now[name]:g} → {value:g}" for name, value in data["suggested"].items() if value != now[name]]
    return f"{', '.join(changes) or 'whatever could be suggested'}: {'; '.join(data['violations'])}"


def _written(data: Data) -> str:
    return f"{data['config']} has the values of {data['suggestion_id']}"


def _not_written(data: Data) -> str:
    return f"{data['reason']} ({data['suggestion_id']})"


def _observed(data: Data) -> str:
    outcome, follows = data["outcome"], data.get("suggestion_id")
    took = f", {numbers.duration(outcome['duration_seconds'])}" if "duration_seconds" in outcome else ""
    loss = f", val loss {numbers.plain(outcome['val_loss'])}" if "val_loss" in outcome else ""
    behind = f", with the values of {follows}" if follows else ""
    return f"run {data['run_id']} {data['status']}{took}{loss} ({data['source']}){behind}"


def _learnt(data: Data) -> str:
    anew = ", begun anew" if data.get("rebuilt") else ""
    runs = data["runs"]
    return f"{runs} run{'' if runs == 1 else 's'} taken in, {data['updates']} updates altogether{anew}"


def _tested(data: Data) -> str:
    results = [
        f"{name} {'passed' if one['passed'] else 'not passed'} ({one['ratio']:.3f})" for name, one in data["results"].items()
    ]
    where = ", ".join(data["released"]) or "nowhere"
    return f"release test of policy {data['policy'][:12]}: {', '.join(results)}; it decides: {where}"


def _forgotten(data: Data) -> str:
    before = datetime.fromtimestamp(data["ended_before"], UTC).date()
    return f"{data['series']} series of {data['runs']} run{'' if data['runs'] == 1 else 's'} that ended before {before}"


_SENTENCES: Mapping[str, Callable[[Data], str]] = {
    "suggested": _suggested,
    "kept": _kept,
    "rolled back": _rolled_back,
    "refused": _refused,
    "written": _written,
    "conflict": _not_written,
    "not written": _not_written,
    "observed": _observed,
    "learnt": _learnt,
    "tested": _tested,
    "forgotten": _forgotten,
}
