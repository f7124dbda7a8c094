"""One table of attacks for every form of output: texts from outside that would steer a terminal, a CI, a spreadsheet or a page.

And what is asked of a text that shows them. Who makes another form of output runs it over ATTACKS.
"""

from __future__ import annotations

import csv
import html
import json
import re
from collections import Counter
from html.parser import HTMLParser
from importlib.resources import files
from io import StringIO

from markdown_it import MarkdownIt

from jpo.wording.printable import UNSEEN

STEERING = (
    "a\n::error file=train.py::pwned\n::set-output name=a::b",
    "\r\n::stop-commands::x\r",
    "::add-mask::0",
    " \t::warning::led by blanks",
    "x ##[error]anywhere ##vso[task.setvariable variable=a]b ##teamcity[x]",
    "section_start:1700000000:name[collapsed=true]\r\x1b[0Khidden section_end:1:name travis_fold:start:a",
    "\x1b[2J\x1b]0;title\x07\x1b]8;;https://evil.example\x07click\x1b]8;;\x07\x9b31m",
    "abc\u202edef\u2066ghi\u2069",
    "zero\u200bwidth\u200d\u2060\ufeff\xad\u3164end",
    "nel\x85ls\u2028ps\u2029vt\x0bff\x0cfs\x1cgs\x1d",
    "tab\tin\ta\ttable",
    "\x7f\x08\x08\x08del",
    "n" * 100_000,
    "of words " * 12_000,
)
LIVE = (
    "@admin and me@evil.example",
    "https://evil.example/?a www.evil.example",
    "![x](https://evil.example/a.png) [l](javascript:1)",
    "<img src=x onerror=alert(1)> <script>alert(1)</script> <!-- @a -->",
    "a|b`c``@d`|",
    "/close",
    "# not a heading #12 group/job!3",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "\t=1+1",
    "{{ 7 * 7 }}${7}",
    "'\"&amp;",
    ':tada: a:warning:b :+1: ~bug ~"needs review" %next %"v 1" $12 &3 ^alert#4 group%1',
    "!merge !12 GH-12 GL-34 bors r+ [[_TOC_]] {+ added +} {- gone -} ==marked==",
    "a|b\n|---|---|\n|x|y|\n\n1. list\n- [ ] task\n===",
    "--> <!-- jpo:suggestion:0 --> @admin\n/assign @admin\n/close",
    "mailto:me@evil.example xmpp:a@b ftp://evil.example//x javascript:alert(1)",
)
READABLE_NAMES = ("数字/小さい-モデル", "naïve Größe", "🦀 crab", "نموذج")
ATTACKS = (*STEERING, *LIVE, *READABLE_NAMES)


def steered(text: str) -> list[str]:
    """Lines that a terminal or a CI would obey, or that nobody would read."""
    commands = re.compile(r"^\s*::|##[\w.-]*\[|section_(start|end):|travis_(fold|time):")
    unseen = re.compile(f"[{UNSEEN}]")
    lines = text.removesuffix("\n").split("\n")
    return [line[:200] for line in lines if not line.isprintable() or commands.search(line) or unseen.search(line)]


def too_long(text: str) -> list[str]:
    return [word[:200] for word in text.split() if len(word) > 1000]


def check_json(text: str) -> None:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        assert [json.loads(line) for line in text.split("\n")[:-1]], "JSON Lines"


def check_csv(text: str, *, exact: bool = False) -> None:
    """Exact: data for programs, whose words may be as long as they are."""
    rows = list(csv.reader(StringIO(text, newline="")))
    assert exact or [cell for row in rows for cell in row if too_long(cell)] == []
    assert {len(row) for row in rows} == {len(rows[0])}
    assert text.count("\n") == len(rows)
    texts = [cell for row in rows for cell in row if not re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", cell)]
    assert [cell for cell in texts if cell.lstrip().startswith(("=", "+", "-", "@", "::"))] == []


def check_markdown(text: str) -> None:
    assert too_long(text) == []
    page = MarkdownIt("commonmark").enable("table").render(text)
    page = re.sub("<pre>.*?</pre>|<code>.*?</code>", "", page, flags=re.DOTALL)
    tags = set(re.findall("<([a-z0-9]+)", page))
    known = {"p", "h3", "h4", "h5", "h6", "ul", "li", "strong", "blockquote"}
    assert tags <= known | {"table", "thead", "tbody", "tr", "th", "td"}
    words = html.unescape(re.sub("<[^>]*>", " \0 ", page))  # a word ends where its element does, to whoever looks for words
    live = r"@\w+|\w*://\S*|www\.\S*|[#!]\d+|\bG[HL]-\d+|:[\w+-]*[a-z+-][\w+-]*:|\b(?:mailto|xmpp):"
    found = re.findall(live, words, re.IGNORECASE)
    assert found == [], found
    plain = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    assert re.findall(r'(?<!\\)[~%$^!](?=[\w"])|(?<!\\)[{][+-]', plain) == [], "what GitLab refers to, unless it is escaped"
    assert [line for line in text.split("\n") if line.startswith("/")] == []


def check_html(text: str) -> None:
    assert too_long(text) == []

    class Page(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            assert tag not in {"script", "img", "a", "iframe", "link"}
            assert not {"href", "src", "onerror"} & {name for name, _ in attributes}

    Page().feed(text)


def check_page(text: str) -> None:
    """A page with a script: ours alone, and links within the page."""
    assert too_long(text) == []
    tags: Counter[str] = Counter()
    scripts: list[str] = []

    class Page(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            tags[tag] += 1
            assert tag not in {"img", "iframe", "link", "object", "embed", "base", "form"}
            for name, value in attributes:
                assert not name.startswith("on"), (tag, name)
                assert name not in {"src", "style", "action", "srcdoc"}, (tag, name)
                assert name != "href" or re.fullmatch(r"#(main|s-\d+)", value or ""), (tag, value)

        def handle_data(self, data: str) -> None:
            if self.cdata_elem == "script":
                scripts.append(data)

    Page().feed(text)
    assert (tags["script"], tags["style"]) == (1, 1)
    assert "".join(scripts) == (files("jpo.report.forms") / "page.js").read_text(encoding="utf-8")
