from __future__ import annotations

from jpo.records import Reach, Stray


def test_a_reach_allows_what_lies_within() -> None:
    most, least, unclear = Reach("gpus", (), most=2), Reach("gpus", (), least=2), Reach("gpus", ())
    assert [most.allows(1), most.allows(2), most.allows(4)] == [True, True, False]
    assert [least.allows(1), least.allows(2), least.allows(4)] == [False, True, True]
    assert unclear.allows(4)
    assert (most.value, least.value, unclear.value) == (2, 2, None)


def test_memory_in_gb_is_known_by_its_ratio() -> None:
    assert Stray("r", "s", "memory_gib", 40, 37.25).in_gb
    assert not Stray("r", "s", "memory_gib", 40, 37).in_gb
    assert not Stray("r", "s", "cpus", 40, 37.25).in_gb
