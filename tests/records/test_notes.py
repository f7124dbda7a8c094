from __future__ import annotations

from jpo.records import Note, codes_of, each_code_once, texts_of, uncoded

NOTES = (Note("JPO-I602", "nothing pays off"), Note("risk", "it may fail"), Note("JPO-I602", "once more"))


def test_public_codes_keep_their_order_and_names_of_our_own_stay_inside() -> None:
    assert codes_of(NOTES) == ("JPO-I602", "JPO-I602")
    assert texts_of(NOTES) == ("nothing pays off", "it may fail", "once more")


def test_a_code_is_said_once_where_it_is_to_be() -> None:
    assert codes_of(each_code_once(NOTES)) == ("JPO-I602",)
    assert texts_of(each_code_once(NOTES)) == texts_of(NOTES)


def test_a_note_is_cited_with_its_code_where_it_has_one() -> None:
    assert [note.cited for note in (Note("JPO-W803", "no prices"), *uncoded(["old"]))] == ["no prices [JPO-W803]", "old"]
