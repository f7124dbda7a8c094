import io

from jpo.plugins.launch.report.watch.screen import live


class Terminal(io.StringIO):
    encoding = "ascii"

    def isatty(self):
        return True


def test_the_last_text_is_shown_in_characters_that_the_terminal_has():
    terminal = Terminal()
    with live(terminal) as draw:
        draw("epoch 1 ▁█")
        draw("epoch 2 ::error::x")
    assert "epoch 2" in terminal.getvalue()
    assert "█" not in terminal.getvalue()
