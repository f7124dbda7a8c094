import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jpo.errors import StoreError
from jpo.history.series import FORMAT, MAX_SAMPLES, pack, unpack

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(FLOATS, FLOATS), max_size=50))
def test_every_bit_comes_back(samples: list[tuple[float, float]]) -> None:
    times, values = tuple(t for t, _ in samples), tuple(v for _, v in samples)
    told = unpack(pack(times, values))
    assert repr(told) == repr((times, values))  # -0.0 too


def test_a_day_in_steps_of_15_seconds_is_small() -> None:
    noise = random.Random(1)
    times = tuple(1_700_000_000 + 15.0 * n for n in range(5760))
    steady = tuple(7.5 for _ in times)
    assert len(pack(times, steady)) < 1_000
    busy = tuple(round(noise.uniform(3, 4), 3) for _ in times)
    assert len(pack(times, busy)) < 3 * len(times)


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"2" + zlib.compress(bytes(16)),
        FORMAT + b"no zlib",
        FORMAT + zlib.compress(bytes(15)),
        (FORMAT + zlib.compress(bytes(1600)))[:-3],
        FORMAT + zlib.compress(bytes(16)) + b"more",
    ],
)
def test_what_pack_did_not_write_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match="samples"):
        unpack(packed)


def test_a_row_that_claims_to_be_huge_is_not_unpacked() -> None:
    with pytest.raises(ValueError, match="too many"):
        unpack(FORMAT + zlib.compress(bytes(64 * MAX_SAMPLES)))


def test_more_samples_than_can_be_read_back_are_not_written() -> None:
    times = tuple(map(float, range(MAX_SAMPLES + 1)))
    with pytest.raises(StoreError, match="cannot be recorded") as caught:
        pack(times, times)
    assert caught.value.code == "JPO-E508"
