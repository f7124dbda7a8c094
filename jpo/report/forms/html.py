"""A report as one HTML page that needs nothing else: no script, no font, no address.

jinja2 escapes every text (autoescape); the page also forbids scripts by its content security policy, should one slip in.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template

from jpo.report.document import Document, plain_text, shown, spans
from jpo.report.forms.cells import harmless, interval_of, value_of
from jpo.wording.printable import printable


def render(document: Document) -> str:
    """The report as a page."""
    return page().render(document=document) + "\n"


@cache
def page() -> Template:
    """The template with what it asks of a document."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.globals |= {
        "shown": shown,
        "kind_of": lambda block: type(block).__name__,
        "spans": lambda text: harmless(spans(text)),
        "plain": lambda text: " ".join(printable(plain_text(text)).split()),
        "lines": lambda text: "\n".join(printable(line.expandtabs()) for line in text.rstrip("\n").split("\n")),
        "value_of": value_of,
        "interval_of": interval_of,
    }
    return environment.from_string(files("jpo.report.forms").joinpath("page.html.jinja").read_text(encoding="utf-8"))
