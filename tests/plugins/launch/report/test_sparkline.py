import math

import pytest

from jpo.plugins.launch.report.watch.watched import sparkline
from jpo.wording.printable import encodable


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([], ""),
        ([1.0], "▁"),
        ([8, 7, 6, 5, 4, 3, 2, 1], "█▇▆▅▄▃▂▁"),
        ([1, math.nan, 2], "▁ █"),
        ([math.nan], ""),
        ([5, 5, 5], "▁▁▁"),
    ],
)
def test_the_smallest_value_is_the_lowest_sign(values, line):
    assert sparkline(values) == line


def test_many_values_share_signs():
    assert sparkline([*range(800)], width=8) == "▁▂▃▄▅▆▇█"


def test_a_terminal_without_blocks_gets_plain_signs():
    assert encodable("█▇▆▅▄▃▂▁", "ascii") == "#*+=-,._"
