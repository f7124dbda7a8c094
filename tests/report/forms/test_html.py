from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser

import pytest
from report.forms.sample import ATTACKS, SAMPLE, attacked

from jpo.report.document import Column, Document, Table
from jpo.report.forms import html

BODY = """\
<body>
<main>
<h1>Workload <strong>digits/cnn/torch</strong>: 3 runs</h1>
<p class="verdict">config.ini: 1 value written</p>
<div class="scroll" tabindex="0">
<table>
<thead>
<tr><th scope="col" class="key">key</th><th scope="col" class="figure">now</th><th scope="col" class="figure">next</th>\
<th scope="col" class="prose">why</th></tr>
</thead>
<tbody>
<tr><th scope="row" class="key"><code>training.batch_size</code></th><td class="figure">32</td>\
<td class="figure"><strong>64</strong></td><td class="prose">64 took less time</td></tr>
<tr><th scope="row" class="key"><code>resources.gpus</code></th><td class="figure">1</td><td class="figure">1</td>\
<td class="prose"></td></tr>
</tbody>
</table>
</div>
<ul>
<li>because 64 was faster</li>
</ul>
<div class="scroll" tabindex="0">
<table>
<caption>Forecast</caption>
<thead>
<tr><th scope="col" class="words">forecast</th><th scope="col" class="words">now</th>\
<th scope="col" class="words">next (90% interval)</th><th scope="col" class="words">SLA</th><td></td></tr>
</thead>
<tbody>
<tr><th scope="row" class="words">duration</th><td class="words">59m 38s</td>\
<td class="words">46m 30s <span class="interval">(40m 00s to 1h 01m)</span></td><td class="words">≤ 2h 00m</td>\
<td class="words"><span class="good">ok</span></td></tr>
<tr><th scope="row" class="words">cost</th><td class="words">3.55 EUR</td>\
<td class="words">2.60 EUR <span class="interval">(2.05 to 3.50)</span></td><td class="words"></td><td class="words"></td></tr>
<tr><th scope="row" class="words">val loss</th><td class="words"><span class="dim">unknown</span></td>\
<td class="words">0.25 <span class="interval">± 0.012</span></td><td class="words"></td>\
<td class="words"><span class="warning">at risk</span></td></tr>
</tbody>
</table>
</div>
<p>Last 3 forecasts: off by 4%.</p>
<p class="note"><strong>Note:</strong> Prometheus did not answer</p>
<pre>-batch_size = 32
+batch_size = 64</pre>
<section>
<h2>Runs</h2>
<p>two runs</p>
<section>
<h3>Newest</h3>
<div class="scroll" tabindex="0">
<table>
<thead>
<tr><th scope="col" class="key">run</th><th scope="col" class="figure">time</th><th scope="col" class="figure">change</th></tr>
</thead>
<tbody>
<tr><th scope="row" class="key"><code>r1</code></th><td class="figure">12.5s</td><td class="figure">-22%</td></tr>
<tr><th scope="row" class="key"><code>r2</code></th><td class="figure"><span class="dim">unknown</span></td>\
<td class="figure">±0%</td></tr>
</tbody>
</table>
</div>
</section>
</section>
</main>
</body>
</html>
"""


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_every_kind_of_block_is_written() -> None:
    shown = html.render(SAMPLE)
    assert shown[shown.index("<body>") :] == BODY
    assert "<title>Workload digits/cnn/torch: 3 runs</title>" in shown


@pytest.mark.parametrize("attack", ATTACKS)
def test_texts_are_data(attack: str) -> None:
    plain, attacked_page = Page(html.render(attacked("x"))), Page(html.render(attacked(attack)))
    assert attacked_page.tags == plain.tags
    assert attacked_page.attributes == plain.attributes
    texts = "".join(attacked_page.texts)
    assert all(character.isprintable() for character in texts.replace("\n", ""))
    assert " ".join("".join(c if c.isprintable() else " " for c in attack).split()) in " ".join(texts.split())


def test_a_page_needs_nothing_else_and_every_tag_is_closed() -> None:
    page = Page(html.render(SAMPLE))
    assert page.open == []
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert not {"href", "src", "style", "onclick"} & {name for name, _ in page.attributes}
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes


def test_a_page_is_light_or_dark_as_the_reader_has_it() -> None:
    shown = html.render(SAMPLE)
    assert "color-scheme: light dark" in shown
    assert "@media (prefers-color-scheme: dark)" in shown


def test_a_document_without_a_title_has_no_empty_heading() -> None:
    assert "<h1>" not in html.render(Document("", ("one",)))
    assert "<title>JPO</title>" in html.render(Document("", ("one",)))


def test_only_the_forms_that_need_them_import_jinja2_and_rich() -> None:
    code = (
        "import sys, jpo.report.document, jpo.report.forms.markdown, jpo.report.forms.csv, jpo.report.forms.json;"
        "print(sorted({'rich', 'jinja2', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_table_without_headings_has_no_row_of_them() -> None:
    rows = ((1, 2),)
    assert "<thead>" not in html.render(Document("t", (Table((Column(""), Column("")), rows),)))
    assert "<thead>" in html.render(Document("t", (Table((Column(""), Column("b")), rows),)))
