"""Tables whose cells are plain numbers, read at once by numpy's parser: a million rows in seconds.

Whatever else a file says, or says wrongly, is left to table.py, which reads row by row and names the row.
"""

from collections.abc import Iterator, Mapping
from io import StringIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jpo.files.reading import LONGEST_NUMBER
from jpo.plugins.phases.files import units
from jpo.plugins.phases.files.cells import LARGEST
from jpo.plugins.phases.files.columns import EXECUTION, TIME, ColumnPlace
from jpo.plugins.phases.files.dates import LATEST
from jpo.plugins.phases.files.rows import separator_in
from jpo.plugins.phases.traces import Floats

BLOCK = 1 << 20
"""Characters that are parsed at once."""


class PlainTable(NamedTuple):
    """Samples, execution after execution: names, how many samples each has, times as written, values in their own units."""

    names: list[str]
    lengths: list[int]
    times: Floats
    values: Floats


def read_plain(text: str, first: int, width: int, places: Mapping[str, ColumnPlace], alone: str) -> PlainTable | None:
    """The samples in lines behind the `first` ones; None: a cell is more than a plain number, or something is wrong.

    `width`: columns; `alone`: the only execution where no column names them.
    """
    separator, body = separator_in(text), "".join(text.split("\n", first)[first:])
    if text.count("\r") != text.count("\r\n") or len({place.at for place in places.values()}) < len(places):
        return None
    if not _is_plain(body, separator):
        return None
    known: dict[str, int] = {} if EXECUTION in places else {alone: 0}
    kinds = ["U1"] * width
    for name, place in places.items():
        kinds[place.at] = f"U{LONGEST_NUMBER}" if name == EXECUTION else "f8"
    dtype = np.dtype([(str(at), kind) for at, kind in enumerate(kinds)])
    measured = {
        str(place.at): units.parts(place.unit) if name != TIME else 1.0 for name, place in places.items() if name != EXECUTION
    }
    codes, samples = [], []  # of each block
    try:
        for block in _blocks(body):
            cells = np.loadtxt(StringIO(block), dtype, comments=None, delimiter=separator, ndmin=1)
            samples.append(np.column_stack([cells[at] / parts for at, parts in measured.items()]))
            codes.append(
                _codes(cells[str(places[EXECUTION].at)], known) if EXECUTION in places else np.zeros(len(cells), np.int64)
            )
    except ValueError:
        return None
    return _sorted([*known], np.concatenate(codes), np.concatenate(samples))


def _sorted(names: list[str], codes: NDArray[np.int64], samples: Floats) -> PlainTable | None:
    """Samples, each with the number of its execution, execution after execution; None: something of them cannot be."""
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable")
        codes, samples = codes[order], samples[order]
    times, values = samples[:, 0].copy(), samples[:, 1:].copy()
    lengths, goes_on = np.bincount(codes).tolist(), (np.diff(times) > 0) | (np.diff(codes) > 0)
    right = "" not in names and min(lengths) > 1 and goes_on.all() and (np.abs(times) <= LATEST).all()
    return PlainTable(names, lengths, times, values) if right and ((values >= 0) & (values <= LARGEST)).all() else None


def _is_plain(body: str, separator: str) -> bool:
    """Whether a text has nothing that numpy reads and a reader of rows does not, or otherwise: quotes, +5, longer cells, a comma
    beside semicolons."""
    if not body.isascii() or any(sign in body for sign in ('"', "\0", *("," if separator == ";" else ()))):
        return False
    if body.count("+") != body.count("e+") + body.count("E+"):
        return False
    signs = np.frombuffer(body.encode(), dtype=np.uint8)
    ends = np.flatnonzero((signs == ord(separator)) | (signs == ord("\n")))
    return len(ends) > 0 and int(np.diff(ends, prepend=-1, append=len(signs)).max()) <= LONGEST_NUMBER


def _blocks(body: str) -> Iterator[str]:
    """Whole lines, of some BLOCK characters."""
    begin = 0
    while begin < len(body):
        end = body.rfind("\n", begin, begin + BLOCK) + 1 or len(body)
        if block := body[begin:end].strip("\r\n"):
            yield block
        begin = end


def _codes(cells: NDArray[np.str_], known: dict[str, int]) -> NDArray[np.int64]:
    """The number of each row's execution, in the order in which they begin; `known` gets new ones."""
    runs = np.flatnonzero(np.r_[True, cells[1:] != cells[:-1]])
    numbers = [known.setdefault(name.strip(), len(known)) for name in cells[runs].tolist()]
    return np.repeat(np.array(numbers), np.diff(runs, append=len(cells)))
