"""A long wait on a stream that is no terminal: one line for each note and each whole step."""

from __future__ import annotations

from io import StringIO

from jpo.report.progress_bar import live


def test_a_step_has_one_line_however_often_it_is_reported() -> None:
    stream = StringIO()
    with live(stream, for_people=False) as shown:
        for done in (1.0, 1.5, 2.0):
            shown.progress(f"epoch {done:g}", done, 3.0)
    assert stream.getvalue() == "epoch 1\nepoch 2\n"


def test_after_a_note_progress_begins_anew_and_nothing_steers_the_terminal() -> None:
    stream = StringIO()
    with live(stream, for_people=False) as shown:
        shown.progress("epoch 1", 1.0, None)
        shown.note("a\x1b[31m note")
        shown.progress("epoch 1", 1.0, None)
    assert stream.getvalue() == "epoch 1\na [31m note\nepoch 1\n"


def test_a_bar_is_gone_afterwards_and_notes_stay() -> None:
    stream = StringIO()
    with live(stream, for_people=True) as shown:
        shown.progress("epoch 1", 1.0, 3.0)
        shown.note("something happened")
    assert "something happened\n" in stream.getvalue()
