"""Edits into bytes: what is refused, and properties over generated files."""

from __future__ import annotations

import configparser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jpo.config import edit as editing
from jpo.config import edited
from jpo.config.locate import locate
from jpo.config.source import decode
from jpo.errors import EditError, JpoError
from jpo.records import Edit

TEXT = b"[t]\nbatch_size = 32  # jpo: pin\nlr = 0.1\n"
EDIT = Edit("t.batch_size", 2, "32", "64")


def test_several_values_change_at_once_to_longer_and_shorter_ones() -> None:
    result = edited(TEXT, "config.ini", [EDIT, Edit("t.lr", 3, "0.1", "1e-3")])
    assert result == b"[t]\nbatch_size = 64  # jpo: pin\nlr = 1e-3\n"
    assert edited(result, "config.ini", [Edit("t.lr", 3, "1e-3", "1")]).endswith(b"\nlr = 1\n")


def test_the_old_text_again_changes_nothing() -> None:
    assert edited(TEXT, "config.ini", [Edit("t.batch_size", 2, "32", "32")]) == TEXT


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ([Edit("t.batch_size", 2, "16", "64")], "config.ini:2: 't.batch_size' is not '16' here; read the file again"),
        ([Edit("t.batch_size", 3, "32", "64")], "config.ini:3: 't.batch_size' is not '32' here"),
        ([Edit("t.batch_size", 9, "32", "64")], "config.ini:9: "),
        ([Edit("u.batch_size", 2, "32", "64")], "'u.batch_size' is not"),
        ([EDIT, EDIT], "two edits for 't.batch_size'"),
    ],
)
def test_an_edit_must_fit_the_file(edits: list[Edit], reason: str) -> None:
    with pytest.raises(EditError) as refusal:
        edited(TEXT, "config.ini", edits)
    assert reason in str(refusal.value)
    assert refusal.value.exit_code == 6


@pytest.mark.parametrize(
    "text", ["", " ", "6 4", "64 ", "64\n", "64\nx = 1", "64 # 3", "64;3", "%(x)s", "[u]", "a=b", "١٦", "6\r4", "64\u2028"]
)
def test_a_new_text_that_could_mean_more_than_a_number_is_refused(text: str) -> None:
    with pytest.raises(EditError, match="is not a plain number"):
        edited(TEXT, "config.ini", [Edit("t.batch_size", 2, "32", text)])


@pytest.mark.parametrize("text", ["64", "-1.5e-3", "+2", ".5", "16Gi", "512 MB"])
def test_numbers_and_units_are_written(text: str) -> None:
    assert edited(TEXT, "x", [Edit("t.batch_size", 2, "32", text)]) == TEXT.replace(b"32", text.encode())


def proof_of(result: bytes) -> None:
    before = decode(TEXT, "x")
    options = locate(before, "x")
    editing._prove(TEXT, before, options, result, {options[0]: "64"}, "config.ini")


@pytest.mark.parametrize(
    ("result", "finding"),
    [
        (TEXT, "other lines change"),
        (TEXT.replace(b"32", b"65"), "configparser reads other values"),
        (TEXT.replace(b"32", b"64").replace(b"0.1", b"0.2"), "other lines change"),
        (TEXT.replace(b"32", b"64").replace(b"\nlr", b"\r\nlr"), "other lines change"),
        (TEXT.replace(b"= 32 ", b"=  64"), "configparser with inline comments reads other values"),
        (TEXT.replace(b"32  # jpo: pin", b"64  # jpo: pun"), "configparser reads other values"),
        (TEXT.replace(b"batch_size = 32", b"Batch_size = 64"), "configparser reads other values"),
        (TEXT + b"\n", "other lines change"),
    ],
)
def test_the_proof_notices_everything_else_that_changes(result: bytes, finding: str) -> None:
    proof_of(TEXT.replace(b"32", b"64"))
    with pytest.raises(EditError) as refusal:
        proof_of(result)
    assert finding in str(refusal.value) or "configparser reads other values" in str(refusal.value)


@pytest.mark.parametrize("text", [TEXT, TEXT + b"an option without value\n"])
def test_configupdater_is_heard_as_a_witness(text: bytes) -> None:
    before = decode(text, "x")
    wanted = {locate(before, "x")[0]: "64"}
    assert editing._same_blocks(before, decode(text.replace(b"32", b"64"), "x"), wanted)
    assert not editing._same_blocks(before, decode(text.replace(b"32", b"64").replace(b"0.1", b"1"), "x"), wanted)


@pytest.mark.parametrize(("most", "heard"), [(3, True), (2, False)])
def test_configupdater_is_asked_about_files_of_a_length_that_it_can_bear(
    monkeypatch: pytest.MonkeyPatch, most: int, heard: bool
) -> None:
    monkeypatch.setattr(editing, "MOST_LINES_FOR_CONFIGUPDATER", most)
    before, after = decode(TEXT, "x"), decode(TEXT.replace(b"32", b"64").replace(b"0.1", b"1"), "x")
    assert len(before.lines) == 3
    assert editing._same_blocks(before, after, {locate(before, "x")[0]: "64"}) is not heard


@pytest.mark.parametrize(
    ("after", "same"),
    [
        (TEXT.replace(b"32", b"64"), True),
        (TEXT.replace(b"32", b"65"), False),
        (TEXT.replace(b"0.1", b"1"), False),
        (TEXT.replace(b"32", b"64").replace(b"0.1", b"1"), False),
    ],
)
def test_code_that_strips_comments_must_read_the_new_value_and_the_others_as_before(after: bytes, same: bool) -> None:
    before = decode(TEXT, "x")
    assert editing._same_with_inline_comments(before, decode(after, "x"), {locate(before, "x")[0]: "64"}) is same


def test_it_is_the_edit_that_fails_where_only_code_with_inline_comments_would_misread() -> None:
    """`a #b` is option `a` for code that strips comments, and then batch_size's own line means something else."""
    data = b"[t]\nx #batch_size = 32\n"
    with pytest.raises(EditError, match="configparser with inline comments reads other values"):
        edited(data, "config.ini", [Edit("t.x #batch_size", 2, "32", "64")])


LINES = st.sampled_from(
    [
        *(
            "[a]",
            "[b]",
            "[DEFAULT]",
            "[a] ; c",
            "[a # b]",
            "k = 1",
            "j: 2",
            "lone",
            "",
            "\t",
            "=",
            "m =",
            "lr=0.1 # x",
            "n = %(k)s",
        ),
        *(
            "  x = 3",
            "   y",
            " i = 4",
            "    deep",
            "# c",
            "; d",
            "  # e",
            "# k = 32",
            "  # e = 3",
            "    batch_size = 32",
            "a\u2028b = \u0085 c",
            "x = é\u00a0",
        ),
        *("batch_size = 32", "batch_size:32 ;c", "  batch_size\t=\t32  # was 16", "BATCH_SIZE = 32", "batch_size ="),
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n"])
FILES = st.builds(
    lambda parts, last, codec: ("[s]\n" + "".join(line + end for line, end in parts) + last).encode(codec, "replace"),
    st.lists(st.tuples(LINES, ENDS), max_size=12),
    LINES,
    st.sampled_from(["utf-8", "utf-8-sig", "latin-1"]),
)


def as_read(data: bytes, prefixes: tuple[str, ...] | None) -> dict[tuple[str, str], str] | None:
    parser = configparser.ConfigParser(
        interpolation=None, allow_no_value=True, inline_comment_prefixes=prefixes, default_section="\n"
    )
    text = "".join(decode(data, "x").lines).replace("\r\n", "\n").replace("\r", "\n")
    try:
        parser.read_file(line + "\n" for line in text.split("\n"))
    except (configparser.Error, AttributeError):
        return None
    return {(section, option): value for section in parser.sections() for option, value in parser.items(section)}


@given(FILES, st.sampled_from(["1", "64", "4096", "1e-3"]))
@example(b"[s]\nbatch_size = 32\n    # note\n", "64")
def test_an_edit_of_any_file_changes_the_value_alone_or_is_refused(data: bytes, new: str) -> None:
    try:
        options = locate(decode(data, "x"), "x")
        targets = [option for option in options if option.name.lower() == "batch_size"]
        result = edited(data, "x", [Edit(option.key, option.line, option.text, new) for option in targets])
    except JpoError:
        return
    assert result.replace(new.encode(), b"32") == data.replace(new.encode(), b"32")
    for prefixes in (None, ("#", ";")):
        before, after = as_read(data, prefixes), as_read(result, prefixes)
        differ = {key for key in before or {} if before[key] != after[key]} if before and after else set()
        assert (before or {}).keys() == (after or {}).keys()
        assert differ <= {(option.section, "batch_size") for option in targets}
    assert all(as_read(result, None)[option.section, "batch_size"].split()[0] == new for option in targets)


@given(FILES)
def test_no_edits_mean_identical_bytes(data: bytes) -> None:
    try:
        assert edited(data, "x", []) == data
    except JpoError:
        assert as_read(data, None) is None


@given(st.one_of(st.binary(max_size=300), st.binary(max_size=60).map(lambda tail: b"[s]\nbatch_size = 32" + tail)))
@example(b"[s]\nx\n y")
@example(b"[s]\n=")
@example(b"\xef\xbb\xbf\xff")
@example(b"\xef\xbb\xbf\xef\xbb\xbf[s]")
def test_arbitrary_bytes_raise_nothing_but_jpo_errors(data: bytes) -> None:
    try:
        options = locate(decode(data, "x"), "x")
        targets = [option for option in options if option.name.lower() == "batch_size"]
        edited(data, "x", [Edit(option.key, option.line, option.text, "64") for option in targets])
    except JpoError as refusal:
        message = str(refusal)
    else:
        message = ""
    assert message.isprintable()
