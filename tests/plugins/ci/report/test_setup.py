"""What `jpo init` says of what it found and made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from attacks import ATTACKS, check_html, check_markdown, steered
from made import DIGITS

from jpo.cli.output import shown
from jpo.plugins.ci.report.setup import SetUp, SetUpFile, as_json, document
from jpo.records import Note, Parameter
from jpo.report.doctor import Line
from jpo.wording.printable import printable, released

BATCH = Parameter("batch_size", "training.batch_size", 32.0, "32", 4)


def found(*files: SetUpFile, path: str = "config.ini", hosts: tuple[str, ...] = ("gitlab",), numbers: int = 3) -> SetUp:
    others = (*((f"a.x{n}", n, "0.5") for n in range(numbers)), ("a.name", 9, "resnet"))
    return SetUp(Path(path), DIGITS, (BATCH,), others, (), files, hosts)


def test_it_lists_what_was_recognised_and_which_numbers_were_not() -> None:
    text = shown(document(found(numbers=25)), "text")
    assert re.search("4 +training.batch_size +32 +batch_size 32", text)
    assert "a.x19 = 0.5 (line 19)" in text
    assert "and 5 more" in text
    assert "resnet" not in text
    assert "not asked: --prometheus-url or PROMETHEUS_URL names it" in text


def test_a_text_is_shown_where_somebody_has_to_read_it() -> None:
    files = (SetUpFile(Path("jpo.toml"), "made", ""), SetUpFile(Path("x.yml"), "there already", "include: []\n"))
    text = shown(document(found(*files)), "text")
    assert "is there already; to be added by hand, where it is not in it yet:" in text
    assert "include: []" in text
    assert text.endswith("1 file made, 1 left as it is\n")
    assert [file["text"] for file in as_json(found(*files))["files"]] == [None, "include: []\n"]  # type: ignore[attr-defined]


def test_next_steps_can_be_pasted() -> None:
    text = shown(document(found(path="a b.ini", hosts=())), "text")
    assert "jpo suggest 'a b.ini' --dry-run" in text
    assert "--ci gitlab or --ci github makes the pipeline's file" in text


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_no_text_of_a_file_or_server_steers_who_reads_it(attack: str) -> None:
    hostile = SetUp(
        Path(attack.replace("\0", "")),
        DIGITS,
        (Parameter("batch_size", attack, 32.0, attack, 4, Note("", attack)),),
        ((attack, 3, f"1{attack}"),),
        (Line("server", "problem", attack, attack, "JPO-E104"),),
        (SetUpFile(Path(attack), "there already", f"# {printable(attack)}\n"),),
        (),
    )
    for form in ("text", "markdown", "html"):
        text = released(shown(document(hostile), form))
        assert steered(text) == []
        {"markdown": check_markdown, "html": check_html}.get(form, len)(text)
