"""A report as Markdown, for a job summary or a note in a merge request. Texts are escaped: they are data.

Servers make links and mentions of plain words too, after Markdown is done with escapes; such words are shown as code.
"""

import re
from collections.abc import Iterator
from itertools import groupby

from jpo.records import Currency, Note
from jpo.report.document import Block, Cell, Column, Document, Inline, Items, Plot, Section, Span, Table, Verbatim, shown, spans
from jpo.report.forms.cells import harmless, interval_of, value_of
from jpo.wording.printable import printable

TOP, DEEPEST = 3, 6
"""Levels of headings: a report is a part of somebody else's page."""
STRONG = ("strong", "bad")
"""Markdown has no colours; what is bad must be seen."""
WORD = re.compile(r"[^\s|]+")
LIVE = re.compile(
    r"@\w|://|\bwww\.|\b(?:mailto|xmpp):|[#!](?=\d)|\b(?:GH|GL)-\d|:(?=[\w+-]*[A-Za-z+-]|1(?:00|234):)[\w+-]+:", re.IGNORECASE
)
"""What makes a word a mention, an address, a reference or a picture: @name, https://a.b, www.a.b, a@b.c, #12, group/project!12,
:tada:.

A backslash does not prevent that: it is gone when a server looks for them. Sources: GitHub Flavored Markdown 0.29, 6.9
(autolinks); GitHub Docs, "Autolinked references and URLs"; GitLab Docs, "GitLab-specific references".
"""
SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$&{}])|([!%^])(?=[\w\"])|(?<!\w):(?=\w)")
"""What means something within a line: of Markdown, HTML and mathematics; and what GitLab refers to or draws, as %milestone or
{+ added +}."""


def render(document: Document) -> str:
    title = [f"{'#' * TOP} {inline(document.title)}"] if document.title else []
    verdict = [f"**{escape(document.verdict)}**"] if document.verdict else []
    alarm = [f"> **{escape(document.alarm)}**"] if document.alarm else []
    return "\n\n".join([*alarm, *title, *verdict, *_pieces(document.blocks, TOP + 1, document.currency)]) + "\n"


def _pieces(blocks: tuple[Block, ...], level: int, currency: Currency) -> Iterator[str]:
    """What has a blank line before and after it."""
    for block in shown(blocks):
        match block:
            case Section(title=title, blocks=inner):
                yield f"{'#' * min(level, DEEPEST)} {inline(title)}"
                yield from _pieces(inner, level + 1, currency)
            case Table():
                yield from ([f"**{escape(block.caption)}**"] if block.caption else [])
                yield "\n".join(_table(block, currency))
            case Items(lines=lines):
                yield "\n".join(f"- {_begun(inline(line))}" for line in lines)
            case Verbatim():
                yield _fenced(block)
            case Note(text=text):
                yield f"> **Note:** {escape(text)}"
            case Plot(description=text):
                yield _begun(inline(text))
            case _:
                yield _begun(inline(block))


def _table(table: Table, currency: Currency) -> Iterator[str]:
    yield _row(escape(column.heading) for column in table.columns)
    yield _row("---:" if column.kind == "figure" else "---" for column in table.columns)
    for row in table.cells():
        yield _row(_cell(cell, column, currency) for cell, column in zip(row, table.columns, strict=True))


def _row(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell, column: Column, currency: Currency) -> str:
    parts, interval = value_of(cell, column, currency), interval_of(cell, column, currency)
    if column.kind == "key" and any(part.text.strip() for part in parts):
        text = code("".join(part.text for part in parts))
    else:
        text = _marked(parts)
    return f"{text} {escape(interval)}" if interval else text


def inline(text: Inline) -> str:
    return _marked(harmless(spans(text)))


def _marked(parts: tuple[Span, ...]) -> str:
    groups = groupby(parts, key=lambda part: part.emphasis in STRONG)  # a mark may stand in two parts of one emphasis
    return " ".join("".join(_part("".join(part.text for part in group), strong=strong) for strong, group in groups).split())


def _part(text: str, *, strong: bool) -> str:
    """Asterisks touch the words which they mark: blanks stay outside."""
    shown = printable(text)
    bare = shown.strip()
    if not (strong and bare):
        return _escaped(shown)
    before, _, after = shown.partition(bare)
    return f"{before}**{_escaped(bare)}**{after}"


def _escaped(text: str) -> str:
    escaped, plain = "", 0
    for word in (word for word in WORD.finditer(text) if LIVE.search(word[0])):
        escaped += _with_backslashes(text[plain : word.start()]) + code(word[0])
        plain = word.end()
    return escaped + _with_backslashes(text[plain:])


def _with_backslashes(text: str) -> str:
    return SPECIAL.sub(r"\\\g<0>", text)


def escape(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line."""
    return " ".join(_escaped(printable(text)).split())


def code(text: str) -> str:
    """Text between backticks, in a table too."""
    return f"`{' '.join(printable(text).split()).replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def link(text: str, address: str) -> str:
    """A link of ours to a page; the text alone where the address is none of the web, or says more than where the page is."""
    if not re.fullmatch(r"https?://[\w.:\[\]-]+(/[\w.~!$&'*+,;=:@%/#?-]*)?", address, re.ASCII):
        return escape(text)
    return f"[{escape(text)}](<{address}>)"


def _begun(text: str) -> str:
    """A line that does not begin a list, a rule, a heading or a command to GitLab (/close) by its first characters."""
    return re.sub(r"^(\d{1,9})(?=[.)])|^(?=[-+=/:])", r"\1\\", text)


def _fenced(block: Verbatim) -> str:
    """The lines between fences that are longer than any run of backticks in them."""
    lines = [printable(line.replace("\t", "    ")) for line in block.text.rstrip("\n").split("\n")]
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", block.text)), 3)
    return "\n".join([f"{fence}{block.language}", *lines, fence])
