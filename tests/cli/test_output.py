"""What a subject of jpo/report becomes in each form, and streams of lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from jpo.cli import output
from jpo.cli.output import rendered, stream
from jpo.report.document import Column, Document, Table


class Counts:
    """A subject whose CSV is the tables of its document."""

    def document(self, count: int, /) -> Document:
        return Document("Counts", (Table((Column("count", "figure"),), ((count,),)),))

    def as_json(self, count: int, /) -> Mapping[str, object]:
        return {"count": count}


class CountsAsRows(Counts):
    def as_csv(self, count: int, /) -> str:
        return f"{count}\n"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("json", '{\n  "count": 3\n}\n'),
        ("text", "Counts\n\ncount\n    3\n"),
        ("table", "Counts\n\ncount\n    3\n"),
        ("markdown", "### Counts\n\n| count |\n| ---: |\n| 3 |\n"),
        ("csv", "count\n3\n"),
    ],
)
def test_a_result_has_every_form(form: str, text: str) -> None:
    assert rendered(Counts(), 3, form) == text


def test_a_published_csv_goes_before_the_tables_of_the_document() -> None:
    assert rendered(CountsAsRows(), 3, "csv") == "3\n"


def test_a_stream_is_written_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(output, "put", written.append)
    monkeypatch.setattr(output, "AT_ONCE", 2)

    def lines() -> Iterator[str]:
        for number in range(3):
            assert len(written) == number // 2, "what came before is out"
            yield f"{number}\n"

    stream(lines())
    assert written == ["0\n1\n", "2\n"]
