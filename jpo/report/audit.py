"""The audit log: a line or a row per record for people, a document per record for programs, CloudEvents and CSV for export.

Records are rendered one by one: a log of any length needs little memory.
"""

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rich.style import Style

from jpo.history import AuditRecord
from jpo.records import Note, value_of
from jpo.report.document import Column, Document, Table
from jpo.report.forms import json
from jpo.report.forms.csv import csv_line
from jpo.wording import numbers
from jpo.wording.names import DECIDERS
from jpo.wording.printable import printable

Data = Mapping[str, Any]
"""What a record says; history/events.py writes it."""
COLUMNS = ("number", "time", "at", "kind", "dataset", "model", "framework", "what", "by", "data", "previous", "hash", "hardware")
"""Of the exported CSV."""
COLOURS = {
    "suggested": "bold",
    "rolled back": "bold",
    "written": "green",
    "observed": "dim",
    **dict.fromkeys(("refused", "conflict", "not written"), "red"),
}
NARROWEST = 20
"""Columns of the words of a line, in a narrower terminal too."""


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Records for a page, oldest first; `newest`: how many they are, where older ones are left out."""

    records: Sequence[AuditRecord]
    newest: int | None = None


def document(page: AuditPage) -> Document:
    older = Note("", f"newest {page.newest} only, older ones are left out: --limit N shows N, `jpo audit export` all")
    return Document("Audit log", (table(page.records, "audit"), older if page.newest else ""))


def table(records: Iterable[AuditRecord], name: str, caption: str = "") -> Table:
    columns = (
        *(Column("record", "figure"), Column("time (UTC)"), Column("kind"), Column("workload", "key")),
        *(Column("what", "prose"), Column("by", "prose")),
    )
    rows = (
        (one.number, clock(one.at), one.kind, str(one.identity or ""), in_words(one.kind, one.data), maker(one.data))
        for one in records
    )
    return Table(columns, tuple(rows), name, caption)


def text_line(record: AuditRecord, width: int, *, colour: bool) -> str:
    """What happened, to which workload, and who did it, for people: a line of `width` columns, which goes on below its words."""
    by = f"  [{who}]" if (who := maker(record.data)) else ""
    sentence = f"{record.identity or '-'}  {in_words(record.kind, record.data)}{by}"
    head, kind, words = f"{record.number:>6}  {clock(record.at):<20}  ", f"{printable(record.kind):<11}", printable(sentence)
    blank = f"{'':{len(head) + len(kind) + 2}}"
    room = max(width, len(blank) + NARROWEST)
    words = textwrap.fill(words, room, initial_indent=blank, subsequent_indent=blank, break_on_hyphens=False)[len(blank) :]
    style = COLOURS.get(record.kind) if colour else None
    return f"{head}{Style.parse(style).render(kind) if style else kind}  {words}\n"


def clock(at: float) -> str:
    """The time in UTC to the second; as a number where no calendar reaches."""
    time = moment(at)
    return time.strftime("%Y-%m-%d %H:%M:%SZ") if time else f"{at:g}"


def json_line(record: AuditRecord) -> str:
    """A record of `jpo audit show -o json`."""
    identity = record.identity.labels if record.identity else None
    names = {"number": record.number, "at": record.at, "kind": record.kind, "workload": identity, "hash": record.hash}
    return json.line({**names, "previous": record.previous, "data": dict(record.data)})


def events(records: Iterable[AuditRecord], source: str) -> Iterator[str]:
    """JSON Lines of CloudEvents; `source` is the URI of the store."""
    return (json.line(cloud_event(record, source)) for record in records)


def csv_lines(records: Iterable[AuditRecord]) -> Iterator[str]:
    """A header, then a row per record; its data are JSON, and stay whole."""
    yield csv_line(COLUMNS)
    yield from (csv_line(cells(record), whole=True) for record in records)


def cloud_event(record: AuditRecord, source: str) -> dict[str, Any]:
    """A record as a CloudEvent 1.0; everything that its hash covers is in it, unrounded.

    Extension attributes are texts: `at` (unix seconds as they were hashed), `dataset`, `model`, `framework`, `hardware` where it
    is said, `previous` and `hash`. `time` is absent outside the years 1 to 9999, `subject` where no workload in particular is
    concerned. `source` is the URI of the store.
    """
    at, identity = moment(record.at), record.identity
    return {
        "specversion": "1.0",
        "id": str(record.number),
        "source": source,
        "type": f"io.jpo.{record.kind.replace(' ', '-')}",
        **({"subject": str(identity), **identity.labels} if identity else {}),
        **({"time": rfc3339(at)} if at else {}),
        "at": repr(record.at),
        "datacontenttype": "application/json",
        "data": dict(record.data),
        "previous": record.previous,
        "hash": record.hash,
    }


def cells(record: AuditRecord) -> tuple[str | float, ...]:
    """A record in the order of COLUMNS, with what happened and who did it in words; empty where nothing is known."""
    at, identity = moment(record.at), record.identity
    names = map(printable, (identity.dataset, identity.model, identity.framework) if identity else ("", "", ""))
    hardware = printable((identity.hardware or "") if identity else "")
    when = rfc3339(at) if at else ""
    what, by = printable(in_words(record.kind, record.data)), printable(maker(record.data))
    data = json.line(dict(record.data)).rstrip("\n")
    return (record.number, when, record.at, record.kind, *names, what, by, data, record.previous, record.hash, hardware)


def moment(at: float) -> datetime | None:
    """Unix seconds as a time; None outside the years 1 to 9999."""
    try:
        return datetime.fromtimestamp(at, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def rfc3339(at: datetime) -> str:
    """A time in UTC, e.g. 2026-11-21T03:00:00.250000Z."""
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def in_words(kind: str, data: Data) -> str:
    """What happened; a record that says something else than this version writes is shown as it is."""
    try:
        return _SENTENCES[kind](data)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, OSError):
        return json.line({name: value for name, value in data.items() if name != "by"}).rstrip("\n")


def maker(data: Data) -> str:
    """Who did it and where to read more, from what a record says of its maker; empty where it says nothing."""
    by = data.get("by")
    if not isinstance(by, Mapping):
        return ""
    said = {name: str(text) for name, text in by.items()}
    if said.get("where") == "local":
        return f"{said.get('user')}@{said.get('host')}"
    return " ".join(said[name] for name in ("user", "where", "url") if name in said)


def _suggested(data: Data) -> str:
    sure = "" if data.get("confidence") is None else f", chance of its claim {numbers.likely(data['confidence'])}"
    decider = f"decided by {DECIDERS[data['decided_by']]}"
    return f"{_kind(data)}{_changes(data)}; {decider}{sure}{_expected(data)} ({data['suggestion_id']})"


def _kind(data: Data) -> str:
    """The first word, "TRIAL 2 of 5: "; empty in records of earlier versions."""
    which = "" if data.get("trial") is None else " {} of {}".format(*data["trial"])
    return f"{data['kind'].upper()}{which}: " if data.get("kind") else ""


def _changes(data: Data) -> str:
    return ", ".join(
        f"{change['key']} {numbers.as_in_reports(change['old'])} → {numbers.as_in_reports(change['new'])}"
        for change in data["changes"]
    )


def _expected(data: Data) -> str:
    now, then = (data.get("forecast", {}).get(when, {}).get("duration_seconds") for when in ("now", "next"))
    return f", {numbers.duration(now['mean'])} → {numbers.duration(then['mean'])} expected" if now and then else ""


def _rolled_back(data: Data) -> str:
    what = "pins are lifted"
    if data["undoes"]:
        what = f"{_changes(data) or data['config'] + ' as it is'}, as before {data['undoes']}"
    until = data.get("pinned_until")
    pinned = f", pinned until {datetime.fromtimestamp(until, UTC).date()}" if until is not None else ""
    return f"{_kind(data)}{what}{pinned} ({data['suggestion_id']})"


def _kept(data: Data) -> str:
    reason = next(iter(data.get("reasons", ())), f"decided by {DECIDERS[data['decided_by']]}")
    return f"{_kind(data)}{data['config']} as it is: {reason} ({data['suggestion_id']})"


def _refused(data: Data) -> str:
    now = data["current"]
    wanted = {name: value_of(value) for name, value in data["suggested"].items() if value != now[name]}
    changes = [f"{name} {numbers.plain(value_of(now[name]))} → {numbers.plain(value)}" for name, value in wanted.items()]
    return f"{', '.join(changes) or 'whatever could be suggested'}: {'; '.join(data['violations'])}"


def _observed(data: Data) -> str:
    outcome, follows = data["outcome"], data.get("suggestion_id")
    took = f", {numbers.duration(outcome['duration_seconds'])}" if "duration_seconds" in outcome else ""
    loss = f", val loss {numbers.plain(outcome['val_loss'])}" if "val_loss" in outcome else ""
    loss += f", accuracy {numbers.plain(outcome['val_accuracy'])}" if "val_accuracy" in outcome else ""
    behind = f", with the values of {follows}" if follows else ""
    return f"run {data['run_id']} {data['status']}{took}{loss} ({data['source']}){behind}"


def _learnt(data: Data) -> str:
    anew = ", begun anew" if data.get("rebuilt") else ""
    return f"{numbers.counted(data['runs'], 'run')} taken in, {numbers.counted(data['updates'], 'update')} altogether{anew}"


def _tested(data: Data) -> str:
    where = ", ".join(data["released"]) or "nowhere"
    if pooled := data["results"].get("pooled"):
        cost = f"{pooled['ratio']:.3f} ± {pooled['standard_error']:.3f} of what the belief rule costs per run"
        harm = f"harm {numbers.percent_in_words(pooled['harm'])}, of the rule {numbers.percent_in_words(pooled['rule_harm'])}"
        jobs = numbers.counted(pooled["jobs"], "simulated job")
        return f"release test of policy {data['policy'][:12]}: {cost} on {jobs}; {harm}; it decides: {where}"
    results = (f"{name} {'' if by['passed'] else 'not '}passed ({by['ratio']:.3f})" for name, by in data["results"].items())
    return f"release test of policy {data['policy'][:12]}: {', '.join(results)}; it decides: {where}"


def _forgotten(data: Data) -> str:
    before = datetime.fromtimestamp(data["ended_before"], UTC).date()
    return f"{data['series']} series of {numbers.counted(data['runs'], 'run')} that ended before {before}"


def _adjusted(data: Data) -> str:
    about = f" {data['about']} {numbers.from_to(data['about'], data['given'], data['kept'])}" if data["about"] else ""
    done = "done" if data["applied"] else f"not carried out{': ' + data['answer'] if data['answer'] else ''}"
    return f"{data['kind']} {data['run_id']}{about}: {data['why']}; should save {_saving(data['expected'])}; {done}"


def _adjustment_settled(data: Data) -> str:
    verb = "saved" if data["applied"] else "would have saved"
    about = f" {data['about']}" if data["about"] else ""
    right = {True: "; it did not win", False: "; but it became the best run"}.get(data["right"], "")
    return f"{data['kind']} {data['run_id']}{about}: {verb} {_saving(data['actual'])}{right}"


def _saving(saving: Data) -> str:
    parts = [numbers.duration(saving["seconds"])] if saving["seconds"] is not None else []
    parts += [numbers.money(saving["usd"])] if saving["usd"] is not None else []
    return " and ".join(parts) or numbers.UNKNOWN


_SENTENCES: Mapping[str, Callable[[Data], str]] = {
    "suggested": _suggested,
    "kept": _kept,
    "rolled back": _rolled_back,
    "refused": _refused,
    "written": lambda data: f"{data['config']} has the values of {data['suggestion_id']}",
    **dict.fromkeys(("conflict", "not written"), lambda data: f"{data['reason']} ({data['suggestion_id']})"),
    "observed": _observed,
    "learnt": _learnt,
    "tested": _tested,
    "forgotten": _forgotten,
    "adjusted": _adjusted,
    "adjustment settled": _adjustment_settled,
}
