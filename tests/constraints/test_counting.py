from hypothesis import given
from hypothesis import strategies as st

from constraints import Counting, Limits, check
from constraints.counting import totals
from constraints.limit import Limit
from constraints.limits import DEFAULTS

FILE = {"batch_size_per_device": 8.0, "gradient_accumulation_steps": 4.0, "gpus_per_node": 2.0, "nodes": 2.0}
IN_ALL = {"batch_size": 128.0, "gpus": 4.0}
COUNTING = Counting(batch_per_device=True, per_node=True, accumulation_steps=4.0, nodes=2.0)


def test_totals_of_a_file_and_back():
    assert totals(FILE) == {**FILE, **IN_ALL}
    assert COUNTING.spelt_out(IN_ALL) == {**FILE, **IN_ALL}
    assert totals({"batch_size_per_device": 8.0}) == {"batch_size_per_device": 8.0, "batch_size": 8.0}, "one CPU"
    assert totals(IN_ALL) == Counting().spelt_out(IN_ALL) == IN_ALL


count = st.integers(1, 64).map(float)


@given(st.fixed_dictionaries(dict.fromkeys(FILE, count)))
def test_what_is_put_together_comes_apart_again(said):
    whole = totals(said)
    counting = Counting(True, True, said["gradient_accumulation_steps"], said["nodes"])
    assert counting.spelt_out({"batch_size": whole["batch_size"], "gpus": whole["gpus"]}) == whole


def test_limits_of_both_terms_count_and_shares_are_whole():
    limits = Limits(parameters={**DEFAULTS, "batch_size_per_device": Limit(high=16)}, counting=COUNTING)

    def rules(**proposed):
        return {v.rule for v in check(IN_ALL, {**IN_ALL, **proposed}, limits).violations}

    assert rules(batch_size=256.0) == set()
    assert rules(batch_size=384.0) == {"at_most_max"}, "24 on each device"
    assert rules(batch_size=1024.0, gpus=16.0) == {"largest_change"}, "8 times as large in all"
    assert rules(gpus=5.0, batch_size=160.0) == {"whole_number"}, "half a GPU in each node"
    assert "whole_number" in rules(batch_size=100.0)
    assert check(IN_ALL, {**IN_ALL, "batch_size": 100.0}, limits).parameters == {**IN_ALL, "batch_size": 96.0}


def test_what_one_device_says_may_be_held_while_the_batch_in_all_grows_with_the_gpus():
    limits = Limits(counting=COUNTING).holding(["batch_size_per_device"])
    assert check(IN_ALL, {"batch_size": 256.0, "gpus": 8.0}, limits).approved
    assert not check(IN_ALL, {"batch_size": 256.0, "gpus": 4.0}, limits).approved
