from __future__ import annotations

from dataclasses import replace

import pytest
from report.forms.sample import ATTACKS, CHANGES, FORECASTS, RUNS, SAMPLE, attacked

from jpo.report.document import Column, Document, Items, Section, Table
from jpo.report.forms import text

GOLDEN = """\
Workload digits/cnn/torch: 3 runs

key                  now  next  why
training.batch_size   32    64  64 took less time
resources.gpus         1     1

- because 64 was faster

Forecast
forecast  now       next (90% interval)          SLA
duration  59m 38s   46m 30s (40m 00s to 1h 01m)  ≤ 2h 00m  ok
cost      3.55 EUR  2.60 EUR (2.05 to 3.50)
val loss  unknown   0.25 ± 0.012                           at risk

Last 3 forecasts: off by 4%.
Note: Prometheus did not answer

-batch_size = 32
+batch_size = 64

Runs
  two runs

  Newest
    run     time  change
    r1     12.5s    -22%
    r2   unknown     ±0%

config.ini: 1 value written
"""


def test_every_kind_of_block_is_written() -> None:
    assert text.render(SAMPLE, width=80, colour=False) == GOLDEN


def test_colours_say_what_is_emphasised() -> None:
    shown = text.render(SAMPLE, width=80, colour=True)
    assert "Workload \x1b[1mdigits/cnn/torch\x1b[0m: 3 runs" in shown
    assert "\x1b[32mok\x1b[0m" in shown
    assert "\x1b[33mNote: Prometheus did not answer\x1b[0m" in shown


def test_a_stream_without_the_signs_gets_plain_ones() -> None:
    document = Document("a → b", ("≥ 1 × 2 ± 3 – 4 …", "naïve"))
    assert text.render(document, width=80, colour=False, encoding="ascii") == "a -> b\n\n>= 1 x 2 +- 3 - 4 ...\nna\\xefve\n"
    assert "naïve" in text.render(document, width=80, colour=False, encoding="latin-1")


def test_prose_wraps_and_keys_stay_whole() -> None:
    table = Table(
        (Column("key", "key"), Column("why", "prose")), (("training.batch_size", "a reason of many short words in a row"),)
    )
    assert text.render(Document("t", (table,)), width=45, colour=False) == (
        "t\n\nkey                  why\ntraining.batch_size  a reason of many short\n                     words in a row\n"
    )


def test_an_estimate_breaks_before_its_interval_and_nowhere_else() -> None:
    document = Document("t", (FORECASTS,))
    lines = text.render(document, width=60, colour=False).splitlines()
    assert "duration  59m 38s   46m 30s                ≤ 2h 00m  ok" in lines
    assert "                    (40m 00s to 1h 01m)" in lines


@pytest.mark.parametrize(
    ("encoding", "short"), [("utf-8", "a-name-that-is-as…names-of-pods-are"), ("ascii", "a-name-that-is-a...ames-of-pods-are")]
)
def test_a_long_key_loses_its_middle(encoding: str, short: str) -> None:
    name = "a-name-that-is-as-long-as-names-of-pods-are"
    table = Table((Column("run", "key"), Column("time", "figure", "duration_seconds")), ((name, 12.5), ("r2", None)))
    shown = text.render(Document("", (table,)), width=44, colour=False, encoding=encoding)
    assert shown.split("\n")[1:3] == [f"{short}    12.5s", f"r2{' ' * 35}unknown"]


def test_an_id_of_a_suggestion_stays_whole() -> None:
    made = "20261121-120000-abcdef"
    table = Table((Column("suggestion", "key"), Column("a"), Column("b")), ((made, "a" * 10, "b" * 10),))
    assert text.render(Document("", (table,)), width=40, colour=False) == (
        f"suggestion{' ' * 14}a\n{made}  {'a' * 10}\nhidden at 40 columns: b\n"
    )


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_last_columns_give_way_and_are_named(width: int) -> None:
    columns = [Column("run"), *(Column(f"column {n}") for n in range(9)), Column("")]
    table = Table(tuple(columns), (("r" * 18, *(f"{n}" * 12 for n in range(9)), "!" * 9),))
    head, row, *rest = text.render(Document("", (table,)), width=width, colour=False).split("\n")
    shown = head.count("column")
    assert len(row) <= width
    assert " ".join(rest).strip() == f"hidden at {width} columns: {', '.join(f'column {n}' for n in range(shown, 9))}"
    assert len(row) + 12 + 1 > width, "one more would have had room"


def test_two_columns_always_stay_and_wrap() -> None:
    table = Table(
        (Column("what"), Column("which"), Column("more")), (("many words " * 4, "and a few more words of it " * 2, "x"),)
    )
    lines = text.render(Document("", (table,)), width=40, colour=False).split("\n")
    assert max(map(len, lines)) <= 40
    assert {"many", "few", "it"} < set(" ".join(lines).split())
    assert lines[-2] == "hidden at 40 columns: more"


def test_of_a_long_list_the_newest_rows_are_shown() -> None:
    rows = tuple((f"r{n}", "some words of a sentence") for n in range(20))
    columns = (Column("run"), Column("why", "prose"))
    whole, few = Table(columns, rows), Table(columns, rows, all_with=": --limit 20")
    assert text.render(Document("", (whole,)), width=80, colour=False).count("\n") == 21
    shown = text.render(Document("", (few,)), width=80, colour=False)
    assert shown.split("\n")[1].startswith("r10 ")
    assert shown.endswith("\n10 older: --limit 20\n")
    tall = replace(few, columns=(Column("run"), Column("why", "prose")), rows=tuple((n, "twenty words " * 20) for n, _ in rows))
    assert text.render(Document("", (tall,)), width=40, colour=False).endswith("\n19 older: --limit 20\n")


@pytest.mark.parametrize("width", [1, 40, 80, 200])
def test_no_line_of_a_table_that_fits_is_longer_than_the_terminal(width: int) -> None:
    lines = text.render(Document("t", (CHANGES, RUNS)), width=width, colour=False).splitlines()
    assert max(map(len, lines)) <= max(width, text.NARROWEST)


def test_a_path_longer_than_a_line_stays_whole() -> None:
    path = "/".join(["directory"] * 12)
    assert path in text.render(Document("t", (f"read {path} twice", Items((path,)))), width=60, colour=False).split()


def test_a_document_without_a_title_is_its_blocks_alone() -> None:
    assert text.render(Document("", ("one",)), width=80, colour=False) == "one\n"


def test_sections_and_tables_without_content_are_not_shown() -> None:
    empty = Section("Nothing", (Table((Column("a"),), ()), Items(()), Section("Inner", ())))
    assert text.render(Document("t", (empty, "end")), width=80, colour=False) == "t\n\nend\n"


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_steers_the_terminal_or_leaves_its_line(attack: str) -> None:
    shown = text.render(attacked(attack), width=200, colour=False)
    assert all(character.isprintable() for character in shown.replace("\n", ""))
    assert "two\nlines" not in shown.partition("\n- ")[0]
    assert text.GLUE not in shown


def test_a_paragraph_wraps_between_words_and_a_long_path_stays_whole() -> None:
    path = "/a/path/that/is/longer/than/any/line/of/this/page"
    shown = text.render(
        Document("", (f"the file {path} cannot be read by this user, whoever that may be",)), width=40, colour=False
    )
    assert shown == f"the file\n{path}\ncannot be read by this user, whoever\nthat may be\n"
