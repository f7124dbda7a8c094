"""What messages repeat of files, in both packages alike."""

from __future__ import annotations

import pytest

from constraints.quoted import quoted
from jpo import errors

REPEATED = {
    **{
        text: repr(text)
        for text in ("", "auto", "32", "-1.5e-3", "1,024", "16 GiB", "90%", "64 apples", "training.batch_size_per_gpu", "lr0")
    },
    **{text: repr(text) for text in ("fp16", "A100", "--wait", "cifar10", "eu-west-1", "_runtime", "10.0.0.1")},
}
DESCRIBED = {
    **{
        text: f"<{len(text)} characters>"
        for text in ("two words", "hunter2", "Tr0ub4dor", "root:$y$j9T$x:19000", "a\x1b[2J", "pass\nword")
    },
    **{
        text: f"<{len(text)} characters>"
        for text in ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "ghp_A1b2C3d4E5f6", "AKIAIOSFODNN7EXAMPLE", "a" * 65)
    },
    "-----BEGIN PRIVATE KEY-----": "<27 characters>",
    "1." * 31 + "!": "<63 characters>",  # in time
}


@pytest.mark.parametrize(("found", "said"), (REPEATED | DESCRIBED).items())
def test_names_and_numbers_are_repeated_and_all_else_is_described(found: str, said: str) -> None:
    assert quoted(found) == errors.quoted(found) == said


def test_what_python_quotes_of_a_file_is_not_repeated() -> None:
    said = []
    for text in ("hunter2", "it's a 'key'", "auto"):
        with pytest.raises(ValueError, match="invalid literal") as caught:
            int(text)
        said.append(errors.words_of(caught.value).removeprefix("invalid literal for int() with base 10: "))
    assert said == ["<7 characters>", "<12 characters>", "'auto'"]


def test_apostrophes_bytes_and_texts_cut_off_hide_nothing_that_is_quoted() -> None:
    said = {
        "doesn't match 'Tr0ub4dor&3'": "doesn't match <11 characters>",
        "can't read b'Tr0ub4dor&3'": "can't read b<11 characters>",
        "near 'Tr0ub4dor&3 and so": "near <18 characters>",
        "near 'Tr0ub4\ndor' and 'auto'": "near <10 characters> and 'auto'",
        "it's 'batch_size'": "it's 'batch_size'",
    }
    assert {text: errors.words_of(text) for text in said} == said


def test_of_other_values_the_kind_is_said() -> None:
    found = [True, 32, 0.5, [], {}, ["a", "b"], {"a": 1}, None, 10**100]
    said = ["True", "32", "0.5", "[]", "{}", "<a list of 2>", "<a table of 1>", "None", "<101 characters>"]
    assert [quoted(each) for each in found] == [errors.quoted(each) for each in found] == said
