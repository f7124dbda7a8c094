"""A report as one HTML page that needs nothing else: no script, no font, no address.

jinja2 escapes every text (autoescape); the page also forbids scripts by its content security policy, should one slip in.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template

from jpo.report.document import Block, Document, Inline, Items, Note, Section, Span, Table, Verbatim, plain_text, shown, spans
from jpo.report.forms.cells import harmless, interval_of, value_of
from jpo.wording.printable import printable

KINDS: tuple[type, ...] = (Table, Section, Items, Note, Verbatim)


def render(document: Document) -> str:
    """The report as a page."""
    return page().render(document=document) + "\n"


@cache
def page() -> Template:
    """The template with what it asks of a document."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.globals |= {
        "shown": shown,
        "kind_of": kind_of,
        "spans": safe_spans,
        "plain": lambda text: " ".join(printable(plain_text(text)).split()),
        "lines": lambda text: "\n".join(printable(line.expandtabs()) for line in text.rstrip("\n").split("\n")),
        "value_of": value_of,
        "interval_of": interval_of,
    }
    return environment.from_string(files("jpo.report.forms").joinpath("page.html.jinja").read_text(encoding="utf-8"))


def kind_of(block: Block) -> str:
    """The name of a block's kind; a text is a paragraph."""
    return next((kind.__name__ for kind in KINDS if isinstance(block, kind)), "paragraph")


def safe_spans(text: Inline) -> tuple[Span, ...]:
    """The parts of a text without characters that turn the direction of reading."""
    return harmless(spans(text))
