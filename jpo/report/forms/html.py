"""A report as one HTML page that needs nothing else: no font, no address, and no script but where a long table is turned over.

jinja2 escapes every text (autoescape). An interactive page allows its own style and script alone, by their hashes; other pages
forbid scripts altogether, should one slip in.
"""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template

from jpo.report.document import Document, Section, plain_text, shown, spans
from jpo.report.forms import colours, svg
from jpo.report.forms.cells import harmless, interval_of, value_of
from jpo.wording.printable import printable

FEW = 12
"""Rows of a table that one overlooks: no filter, no pages."""
PAGE_ROWS = 50
"""Rows of a page of a long table; page.js has the same number."""


def render(document: Document) -> str:
    """A page; keys lead to the sections that they name."""
    numbered = enumerate(shown(document.blocks), 1)
    named = {spans(block.title)[-1].text: f"s-{at}" for at, block in numbered if isinstance(block, Section)}
    return template("page.html.jinja").render(document=document, named=named if document.interactive else {}) + "\n"


@cache
def template(name: str) -> Template:
    """A template with what it asks of a document."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    style, script = _style(), _file("page.js")
    nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    own = f"{nothing}; style-src {_hash(style)}; script-src {_hash(script)}"
    environment.globals |= {
        "shown": shown,
        "kind_of": lambda block: type(block).__name__,
        "spans": lambda text: harmless(spans(text)),
        "plain": lambda text: " ".join(printable(plain_text(text)).split()),
        "lines": lambda text: "\n".join(printable(line.expandtabs()) for line in text.rstrip("\n").split("\n")),
        "value_of": value_of,
        "interval_of": interval_of,
        "drawing": svg.drawing,
        "path": svg.path,
        "policy": lambda interactive: own if interactive else "default-src 'none'; style-src 'unsafe-inline'",
        "style": style,
        "script": script,
        "few": FEW,
        "page_rows": PAGE_ROWS,
        **{name: getattr(svg, name.upper()) for name in ("width", "height")},
    }
    return environment.from_string(_file(name))


def _style() -> str:
    light, dark, paper = (
        f":root {{ {' '.join(f'--{name}: {colour};' for name, colour in table.items())} }}"
        for table in (colours.LIGHT, colours.DARK, colours.PAPER)
    )
    own = inks({name: f"var(--{name})" for name in colours.NAMES})
    return f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n@media print {{ {paper} }}\n{_file('page.css')}\n{own}"


def inks(named: Mapping[str, str]) -> str:
    """The style of paths, with these colours by their names."""
    rules = ""
    for name, ink in svg.INKS.items():
        colour = named.get(ink.colour, ink.colour)
        ends = f"stroke-dasharray: {ink.dashes}" if ink.dashes else "stroke-linecap: round"
        line = f"stroke: {colour}; stroke-width: {ink.width:g}; stroke-opacity: {ink.opacity:g}; {ends}"
        rules += f".{'.'.join(name.split())} {{ {f'fill: {colour}; fill-opacity: {ink.opacity:g}' if ink.fill else line} }}\n"
    return rules


def _file(name: str) -> str:
    return files("jpo.report.forms").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """A source of a content security policy: the text itself. Source: W3C, "Content Security Policy Level 3", 2.3.1."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
