"""Config files as they turn up in practice: one template each, in which @ marks the value to edit.

`EDITABLE`: batch_size in its section must change with no other byte. `REFUSED`: is left alone; the text is part of the reason.
"""

from __future__ import annotations

import configparser
from collections.abc import Callable

import pytest

from jpo.config import edited
from jpo.config.locate import locate
from jpo.config.source import decode
from jpo.errors import EditError, UsageError
from jpo.records import Edit, Workload

OLD, NEW = b"32", b"1024"

PLAIN = (
    b"[workload]\ndataset = cifar10\nmodel = resnet18\nframework = pytorch\n\n[training]\nbatch_size = @\nlearning_rate = 0.1\n"
)

EDITABLE: dict[str, bytes] = {
    "plain": PLAIN,
    "crlf": PLAIN.replace(b"\n", b"\r\n"),
    "cr only": PLAIN.replace(b"\n", b"\r"),
    "mixed line ends": PLAIN.replace(b"\n", b"\r\n", 3),
    "lone cr between lf lines": b"[t]\na = 1\rb = 2\nbatch_size = @\r",
    "utf-8 bom": b"\xef\xbb\xbf" + PLAIN,
    "bom and crlf": b"\xef\xbb\xbf" + PLAIN.replace(b"\n", b"\r\n"),
    "no final newline": b"[t]\nbatch_size = @",
    "no final newline, trailing blanks": b"[t]\nbatch_size = @ \t ",
    "tabs": b"[t]\nbatch_size\t=\t@\t\n\tlearning = 1\n".replace(b"\n\tlearning", b"\nlearning"),
    "aligned": b"[t]\nbatch_size    = @\nlearning_rate = 0.1\nx             = 3\n",
    "no blanks": b"[t]\nbatch_size=@\nlr=0.1\n",
    "colon": b"[t]\nbatch_size: @\nlr : 0.1\n",
    "colon and equals": b"[t]\nbatch_size :@\npath = a=b:c\nurl: http://x/?a=b\n",
    "inline comment #": b"[t]\nbatch_size = @  # per step; was 32\nlr = 0.1 # 32\n",
    "inline comment ;": b"[t]\nbatch_size = @\t; per step # 32\n",
    "comment with key=value": b"[t]\n# batch_size = 32\nbatch_size = @ # batch_size = 32\n",
    "commented-out key below": b"[t]\nbatch_size = @\n;batch_size = 32\n#batch_size = 32\n",
    "indented section": b"  [t]\n  batch_size = @\n  lr = 0.1\n",
    "indented key after header": b"[t]\n    batch_size = @\n    lr = 0.1\n\n    x = 2\n",
    "indented comment below": b"[t]\nbatch_size = @\n    # 32 fits on a T4\nlr = 0.1\n",
    "indented comment above": b"[t]\n    # 32 fits on a T4\nbatch_size = @\n",
    "indented comment above a deeper key": b"[t]\n  # a = b\n    batch_size = @\n    lr = 0.1\n",
    "upper-case key": b"[t]\nBATCH_SIZE = @\nOther_Key = X\n",
    "upper-case section twin": b"[t]\nbatch_size = @\n[T]\nbatch = 32\n",
    "DEFAULT section": b"[DEFAULT]\nbatch_size = @\n[train]\nlr = 0.1\n",
    "overrides DEFAULT elsewhere": b"[DEFAULT]\nseed = 32\n[t]\nbatch_size = @\n[u]\nseed = 1\n",
    "interpolated neighbour": b"[t]\nbatch_size = @\nsteps = %(batch_size)s0\nshare = 50%\ndate = %Y-%m\next = ${t:batch_size}\n",
    "multi-line neighbours": b"[t]\nfiles =\n    a.rec\n    b.rec\n\n    c.rec\nbatch_size = @\nnote = 32\n  and 32\n\n  more\n",
    "multi-line neighbour with look-alikes": b"[t]\nhelp = set\n    batch_size = 32\n    [t]\nbatch_size = @\n",
    "comment inside a multi-line neighbour": b"[t]\nfiles = a\n# batch_size = 32\n    b\nbatch_size = @\n",
    "key without value": b"[t]\nverbose\nbatch_size = @\ndebug\n",
    "empty neighbours": b"[t]\na =\nbatch_size = @\nb:\n",
    "latin-1": "[t]\n# Größe\nname = Jürgen \xa0\nbatch_size = @ # für alle\n".encode("latin-1"),
    "cp1252 quotes and euro": b"[t]\nnote = \x93x\x94 \x80\x81\x85\nbatch_size = @\n",
    "utf-8 everywhere": "[träining 🚀]\nバッチ = 32\nbatch_size = @  # größer\n".encode(),
    "U+2028 in a comment": "[t]\n# a\u2028batch_size = 32\u2028\nbatch_size = @\n".encode(),
    "U+0085 and U+2029 in a value": "[t]\nnote = a\u0085b\u2029c\nbatch_size = @\n".encode(),
    "form feed and vertical tab": b"[t]\nnote = a\x0cb\x0bc\n\x0c\nbatch_size = @\nx = \x1c1\x1d\n",
    "no-break space behind the value": "[t]\nbatch_size = @\u00a0\n".encode(),
    "same value elsewhere": b"[t]\nworkers = 32\nbatch_size = @\nhidden = 32\n[u]\nsize = 32\n",
    "value is part of key": b"[t32]\nbatch_size32 = 32\nbatch_size = @\n",
    "section with dots and blanks": b"[a.b  c]\nbatch_size = @\n",
    "section with comment": b"[t] # the training\nbatch_size = @\n",
    "section with brackets": b"[a]b]\nbatch_size = @\n",
    "empty sections": b"[a]\n[b]\n\n[t]\nbatch_size = @\n[c]\n",
    "comments before the first section": b"# head\n; head = 32\n\n[t]\nbatch_size = @\n",
    "blank lines and trailing blanks": b"\n\n[t]   \n\n  \t\nbatch_size = @   \n\n\n   \n",
    "git-style inline hash without blank": b"[t]\ncolour=#32\nbatch_size = @\n",
    "quotes around neighbours": b'[t]\nname = "a # b"\nbatch_size = @\n',
    "escape sequences": b"[t]\nnote = \x1b[31m32\nbatch_size = @\n",
    "very long line": b"[t]\nvocabulary = " + b"word " * 40_000 + b"\nbatch_size = @\n# " + b"-" * 100_000 + b"\n",
    "1 MB in one section": b"[t]\nbatch_size = @\n" + b"".join(b"option_%d = 32 %s\n" % (n, b"x" * 230) for n in range(4_100)),
    "1 MB in many sections": b"".join(b"[s%d]\n# %s\n" % (n, b"-" * 480) for n in range(2_050)) + b"[t]\nbatch_size = @\n",
}

REFUSED: dict[str, tuple[bytes, str]] = {
    "duplicate key": (b"[t]\nbatch_size = 32\nlr = 1\nbatch_size = 64\n", "4: option 'batch_size' appears a second time"),
    "duplicate key in other case": (b"[t]\nbatch_size = 32\nBatch_Size = 32\n", "3: option 'batch_size' appears a second time"),
    "duplicate neighbour": (b"[t]\nbatch_size = 32\nx = 1\nx = 1\n", "4: option 'x' appears a second time"),
    "duplicate section": (b"[t]\nbatch_size = 32\n[u]\n[t]\nlr = 1\n", "4: section 't' appears a second time"),
    "duplicate DEFAULT": (b"[DEFAULT]\nbatch_size = 32\n[DEFAULT]\n", "3: section 'DEFAULT' appears a second time"),
    "no section": (b"batch_size = 32\n", "1: there is no [section] above"),
    "option before the section": (b"# c\nseed = 1\n[t]\nbatch_size = 32\n", "2: there is no [section] above"),
    "value over several lines": (b"[t]\nbatch_size = 32\n  64\n", "2: 't.batch_size' continues on the next line"),
    "value continues after a blank line": (b"[t]\nbatch_size = 32\n\n  64\n", "2: 't.batch_size' continues"),
    "value continues after a comment": (b"[t]\nbatch_size = 32\n# c\n  lr = 0.1\n", "2: 't.batch_size' continues"),
    "value on the next line": (b"[t]\nbatch_size =\n  32\n", "2: 't.batch_size' continues"),
    "next key is indented": (b"[t]\nbatch_size = 32\n  lr = 0.1\n", "2: 't.batch_size' continues"),
    "empty value": (b"[t]\nbatch_size =\n", "2: batch_size = '' is not a whole number; write"),
    "only a comment for value": (b"[t]\nbatch_size = # 32\n", "2: batch_size = '' is not"),
    "key without delimiter": (b"[t]\nbatch_size\n", "2: batch_size = '' is not"),
    "blank for delimiter": (b"[t]\nbatch_size 32\n", "contains no parameter that JPO knows; name"),
    "quoted value": (b'[t]\nbatch_size = "32"\n', "2: batch_size = '\"32\"' is not a whole number; write"),
    "reference to nothing": (
        b"[t]\nbatch_size = %(base)s\n",
        "2: batch_size = <8 characters> refers to 'base', which is neither",
    ),
    "extended interpolation": (b"[t]\nbatch_size = ${a:b}\n", "2: batch_size = <6 characters> is not what Python's configparser"),
    "percent": (b"[t]\nbatch_size = 32%\n", "2: batch_size = '32%' is not"),
    "a word": (b"[t]\n\nbatch_size = auto\n", "3: batch_size = 'auto' is not a whole number; write e.g. batch_size = 32"),
    "a fraction": (b"[t]\nbatch_size = 32.5\n", "2: batch_size = '32.5' is not"),
    "comment glued to the value": (b"[t]\nbatch_size = 32#64\n", "2: batch_size = '32#64' is not"),
    "two values": (b"[t]\nbatch_size = 32 64\n", "2: batch_size = '32 64' is not"),
    "double delimiter": (b"[t]\nbatch_size == 32\n", "2: batch_size = '= 32' is not"),
    "option without a name": (b"[t]\nbatch_size = 32\n= 3\n", "3: an option needs a name; write"),
    "lone key continues": (b"[t]\nverbose\n  batch_size = 32\n", "3: continues an option which has no value; remove"),
    "same option in two sections": (
        b"[train]\nbatch_size = 32\n[eval]\nbatch_size = 32\n",
        "(line 2) and 'eval.batch_size' (line 4); say which in jpo.toml: [parameters] batch_size = { key = ",
    ),
    "two names for one thing": (b"[t]\nbatch_size = 32\nbs = 32\n", "'t.batch_size' (line 2) and 't.bs' (line 3); say"),
    "section with escape sequence": (
        b"[t\x1b[2J]\nbatch_size = 32\n",
        "2: <16 characters> has unprintable characters; write",
    ),
    "NUL": (b"[t]\nbatch_size = 32\n\0\n", "3: contains a NUL byte; save it as UTF-8"),
    "UTF-16": ("[t]\nbatch_size = 32\n".encode("utf-16"), "is UTF-16 or UTF-32 text; save it as UTF-8"),
    "UTF-16 without BOM": ("[t]\nbatch_size = 32\n".encode("utf-16-le"), "1: contains a NUL byte; save"),
    "UTF-32": ("[t]\nbatch_size = 32\n".encode("utf-32"), "is UTF-16 or UTF-32 text; save"),
    "empty": (b"", "is empty; write"),
    "only blanks and a BOM": (b"\xef\xbb\xbf\r\n \n", "is empty; write"),
    "only comments": (b"# batch_size = 32\n", "contains no parameter that JPO knows; name"),
    "BOM inside": (b"\n\xef\xbb\xbf[t]\nbatch_size = 32\n", "2: there is no [section] above this line; put"),
    "JSON": (b'{"batch_size": 32}\n', "1: there is no [section] above this line; put"),
    "YAML": (b"training:\n  batch_size: 32\n", "1: there is no [section] above this line; put"),
    "too large": (b"[t]\nbatch_size = 32\n#" + b"x" * 3_000_000, "is larger than 2 MiB; name"),
    "sections without end": (b"[t]\na = 1\n" * 26_000, "has more than 50,000 lines; name"),
    "blanks on which configparser hangs": (
        b"[t]\nbatch_size = 32\na" + b" " * 100_000 + b"b\n",
        "3: contains more than 250 blanks in a row; remove",
    ),
    "misspelt pin": (b"[t]\nbatch_size = 32 # jpo: pni\n", "2: jpo: 'pni' is not understood; write # jpo: pin"),
    "pin apart from its option": (b"[t]\n# jpo: pin\n\nbatch_size = 32\n", "2: this jpo: comment belongs to no option; put"),
}

IDENTITY = b"\n[identity]\ndataset = cifar10\nmodel = resnet18\nframework = pytorch\n"

editable = pytest.mark.parametrize("template", EDITABLE.values(), ids=EDITABLE.keys())
refused = pytest.mark.parametrize(("data", "reason"), REFUSED.values(), ids=REFUSED.keys())


def batch_size_edit(data: bytes) -> Edit:
    option = next(option for option in locate(decode(data, "x"), "x") if option.name.lower() == "batch_size")
    return Edit(option.key, option.line, option.text, NEW.decode())


def seen(data: bytes, **options: object) -> list[tuple[str, str, str]]:
    """What configparser reads, as training code on this file would."""
    parser = configparser.ConfigParser(interpolation=None, allow_no_value=True, **options)  # type: ignore[call-overload]
    source = decode(data, "x")
    parser.read_string("".join(source.lines).replace("\r\n", "\n").replace("\r", "\n"))
    return [(section, *item) for section in parser for item in parser.items(section)]


@editable
def test_an_edit_changes_the_value_and_no_other_byte(template: bytes) -> None:
    assert template.count(b"@") == 1
    before = template.replace(b"@", OLD)
    assert edited(before, "config.ini", [batch_size_edit(before)]) == template.replace(b"@", NEW)


@editable
def test_training_code_that_strips_comments_reads_the_new_value_and_else_what_it_read_before(template: bytes) -> None:
    before = template.replace(b"@", OLD)
    old, new = (
        seen(data, inline_comment_prefixes=("#", ";")) for data in (before, edited(before, "x", [batch_size_edit(before)]))
    )
    changed = {(was, now) for was, now in zip(old, new, strict=True) if was != now}
    assert {(was[1:], now[1:]) for was, now in changed} == {(("batch_size", "32"), ("batch_size", "1024"))}


@editable
def test_no_edits_leave_the_same_bytes(template: bytes) -> None:
    data = template.replace(b"@", OLD)
    assert edited(data, "config.ini", []) == data


@editable
def test_read_finds_the_value_on_its_line(template: bytes, read: Callable[..., Workload]) -> None:
    found = read(template.replace(b"@", OLD) + (b"" if b"[workload]" in template else IDENTITY)).parameter("batch_size")
    lines = template.split(b"@")[0].decode("latin-1").replace("\r\n", "\n").replace("\r", "\n").count("\n")
    assert (found.value, found.text, found.line) == (32, "32", lines + 1)


@refused
def test_a_file_that_cannot_be_edited_safely_is_refused_with_line_and_remedy(
    data: bytes, reason: str, read: Callable[..., Workload]
) -> None:
    with pytest.raises(UsageError) as refusal:
        read(data)
    message = str(refusal.value)
    assert reason in message
    assert "; " in message
    assert message.isprintable()


@refused
def test_the_editor_refuses_too_or_changes_only_the_value(data: bytes, reason: str) -> None:
    try:
        result = edited(data, "config.ini", [Edit("t.batch_size", 2, "32", "1024")])
    except (UsageError, EditError):  # exit codes 2 and 6
        return
    assert result == data.replace(b"batch_size = 32", b"batch_size = 1024", 1), reason
