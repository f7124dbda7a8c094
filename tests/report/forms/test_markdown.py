from __future__ import annotations

import html
import re

import pytest
from markdown_it import MarkdownIt
from report.forms.sample import ATTACKS, SAMPLE, attacked

from jpo.report.document import Column, Document, Items, Span, Table, Verbatim
from jpo.report.forms import markdown

GOLDEN = """\
### Workload **digits/cnn/torch**: 3 runs

**config.ini: 1 value written**

| key | now | next | why |
| --- | ---: | ---: | --- |
| `training.batch_size` | 32 | **64** | 64 took less time |
| `resources.gpus` | 1 | 1 |  |

- because 64 was faster

**Forecast**

| forecast | now | next (90% interval) | SLA |  |
| --- | --- | --- | --- | --- |
| duration | 59m 38s | 46m 30s (40m 00s to 1h 01m) | ≤ 2h 00m | ok |
| cost | 3.55 EUR | 2.60 EUR (2.05 to 3.50) |  |  |
| val loss | unknown | 0.25 ± 0.012 |  | at risk |

Last 3 forecasts: off by 4%.

> **Note:** Prometheus did not answer

```diff
-batch_size = 32
+batch_size = 64
```

#### Runs

two runs

##### Newest

| run | time | change |
| --- | ---: | ---: |
| `r1` | 12.5s | -22% |
| `r2` | unknown | ±0% |
"""


def test_every_kind_of_block_is_written() -> None:
    assert markdown.render(SAMPLE) == GOLDEN


@pytest.mark.parametrize(
    ("attack", "escaped"),
    [
        ("\x1b[31mred", r"\[31mred"),
        ("\u202eback", "back"),
        ("<script>", r"\<script\>"),
        ("a|b", r"a\|b"),
        ("`tick`", r"\`tick\`"),
        ("two\nlines", "two lines"),
        ("*a* _b_ ~c~ #x $x$", r"\*a\* \_b\_ \~c\~ \#x \$x\$"),
        ("by @team/leads, #1", "by `@team/leads,` `#1`"),
        ("see https://a.b/c|d", r"see `https://a.b/c`\|d"),
        ("(www.a.b) a@b.c`x`", "`(www.a.b)` `a@b.c'x'`"),
        ("team/job!12 %next :tada: 90%", r"`team/job!12` \%next `:tada:` 90%"),
        ("a:tada:b :+1: :100: 10:20:30", "`a:tada:b` `:+1:` `:100:` 10:20:30"),
        ('group%3 %"next one" {+ added +}', r'group\%3 \%"next one" \{+ added +\}'),
        ("&lt;", r"\&lt;"),
        (r"\|", r"\\\|"),
    ],
)
def test_texts_are_data(attack: str, escaped: str) -> None:
    assert markdown.escape(attack) == escaped
    assert f"\n| `{markdown.code(attack)[1:-1]}` | {escaped} |" in markdown.render(attacked(attack))


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_table_keeps_its_columns_and_lines(attack: str) -> None:
    shown = markdown.render(attacked(attack))
    rows = [line for line in shown.split("\n") if line.startswith("| ")]
    assert [len(re.split(r"(?<!\\)\|", row)) for row in rows] == [5, 5, 5]
    assert all(character.isprintable() for character in shown.replace("\n", ""))


@pytest.mark.parametrize(
    ("text", "begun"),
    [
        ("- a", r"\- a"),
        ("1. a", r"1\. a"),
        ("12) a", r"12\) a"),
        ("=== a", r"\=== a"),
        ("/close", r"\/close"),
        ("2026. a", r"2026\. a"),
    ],
)
def test_no_sentence_becomes_a_list_or_a_heading(text: str, begun: str) -> None:
    assert markdown.render(Document("t", (text, Items((text,))))) == f"### t\n\n{begun}\n\n- {begun}\n"


def test_backticks_in_a_key_cannot_end_it() -> None:
    table = Table((Column("key", "key"),), (("a`|\n`b",),))
    assert r"| `a'\| 'b` |" in markdown.render(Document("t", (table,)))


def test_a_fence_is_longer_than_what_it_holds() -> None:
    assert "\n````diff\na ``` b\n\tc\n````\n".replace("\t", "    ") in markdown.render(
        Document("t", (Verbatim("a ``` b\n\tc\n", "diff"),))
    )


def test_emphasis_touches_its_words() -> None:
    assert markdown.render(Document("t", (("a", Span(" b "), "c", Span("d", "bad"), Span("e", "good")),))).endswith(
        "a **b** c**d**e\n"
    )


LIVE_ATTACKS = (
    "@admin",
    "mail me@evil.example",
    "https://evil.example/?a=b",
    "WWW.evil.example",
    "mailto:a@b.c",
    "ftp://a.b",
    "![x](https://evil.example/a.png)",
    "[x][y] [y]: https://evil.example",
    "<img src=https://evil.example/a.png>",
    "<https://evil.example>",
    "<!-- @a -->",
    "`@admin`",
    "`` @admin ``",
    "a`@admin`b|@other`|`",
    "\\`@admin\\`",
    "*@admin*",
    "#12 group/project!7 GH-9 GL-9",
    "@\u200badmin @\nadmin",
    "&#64;admin",
    "@" * 300 + "admin",
    "x " * 3000 + "@admin",
)


CODE = re.compile("<pre>.*?</pre>|<code>.*?</code>", re.DOTALL)
TAG = re.compile("</?([a-z0-9]+)[^>]*>")


def without_code(document: Document) -> str:
    """What a server looks through for links and mentions: HTML that is not code."""
    return CODE.sub("", MarkdownIt("commonmark").enable("table").render(markdown.render(document)))


@pytest.mark.parametrize("attack", [*ATTACKS, *LIVE_ATTACKS])
def test_a_reader_of_markdown_sees_no_link_mention_or_tag_of_theirs(attack: str) -> None:
    page = without_code(attacked(attack))
    tags, usual = ([tag for tag in TAG.findall(one) if tag != "strong"] for one in (page, without_code(attacked("x"))))
    assert tags == usual
    words = html.unescape(TAG.sub("", page))
    assert not re.search(r"@\w|://|www\.|mailto:|[#!]\d|G[HL]-\d", words, re.IGNORECASE), words


def test_a_mention_in_two_parts_is_none_either() -> None:
    assert markdown.inline(("by @", Span("team", "good"), " #", "1")) == "by `@team` `#1`"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://ci.example/a/b?c=1#d", "[log](<https://ci.example/a/b?c=1#d>)"),
        ("javascript:alert(1)", "log"),
        ("https://a.b/>)[x](https://evil.example", "log"),
        ("https://user:password@ci.example/", "log"),
        ("https://a.b/\n@admin", "log"),
    ],
)
def test_a_link_is_one_to_a_page_or_none(address: str, shown: str) -> None:
    assert markdown.link("log", address) == shown
