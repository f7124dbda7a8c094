import math
import tomllib

import pytest

from constraints.amounts import seconds
from constraints.limit import Limit
from constraints.limits import DEFAULTS, Limits, Quota, limits_from
from jpo import records


def limits(toml: str) -> Limits:
    return limits_from(tomllib.loads(toml))


def test_every_parameter_has_a_built_in_limit():
    assert tuple(DEFAULTS) == (*records.PARAMETERS, *records.COUNTS)
    assert limits_from({}) == Limits()


def test_built_in_limits_are_those_that_are_published():
    built_in = Limits().parameters
    assert (built_in["batch_size"].low, built_in["batch_size"].high) == (1, math.inf)
    assert (built_in["learning_rate"].low, built_in["learning_rate"].high) == (1e-8, 100)


def test_the_tables_of_the_guide_are_understood():
    read = limits("""
        [parameters]
        batch_size    = { key = "training.batch_size", min = 1, max = 4096, step = "pow2", max_change = 4.0 }
        learning_rate = { key = "training.learning_rate", min = 1e-4, max = 0.1, scale = "log", follow = "batch_size:sqrt" }
        num_layers    = { key = "model.num_layers", min = 1, max = 8, freeze = true }
        [sla]
        time_max = "6h"
        cost_max = 12.0
        throughput_min = 500
        memory_max_gib = 64
        gpu_util_min = 0.5
        cpu_util_min = 0.3
        val_loss_max = -0.1
        [prices]
        usd_per_gpu_hour = 2.1
        [quota]
        gpus = 8
        usd_per_hour = 20
        [card]
        memory_gib = 80
    """)
    assert read.parameters["batch_size"] == Limit(1, 4096, power_of_two=True, max_change=4, key="training.batch_size")
    assert read.parameters["num_layers"].held == "frozen in jpo.toml"
    assert (read.quota.gpus, read.quota.cpus) == (8, math.inf)
    assert read.sla == {
        "time_max": 21600,
        "cost_max": 12,
        "throughput_min": 500,
        "memory_max_gib": 64,
        "gpu_util_min": 0.5,
        "cpu_util_min": 0.3,
        "val_loss_max": -0.1,
    }
    assert (read.prices.usd_per_gpu_hour, read.card.memory_gib, read.card.fixed_gib) == (2.1, 80, None)


def test_numbers_from_the_environment_are_text_and_count():
    read = limits_from({"sla": {"cost_max": "12"}, "parameters": {"batch_size": {"max": "64", "freeze": "true"}}})
    assert read.sla["cost_max"] == 12
    assert read.parameters["batch_size"].high == 64
    assert read.parameters["batch_size"].held


def test_what_is_given_overrides_the_built_in_bound_that_contradicts_it():
    assert limits("[parameters]\nlearning_rate = { max = 1e-9 }").parameters["learning_rate"].low == 1e-9
    assert limits("[parameters]\nlearning_rate = { min = 500 }").parameters["learning_rate"].high == 500
    assert limits("[parameters]\nlearning_rate = { choices = [0.2, 0.4] }").parameters["learning_rate"].high == math.inf


def test_the_next_choice_is_within_reach_of_the_built_in_step_but_not_of_a_given_one():
    assert limits("[parameters]\ngpus = { choices = [16, 1] }").parameters["gpus"].max_change == 16
    assert limits("[parameters]\ngpus = { choices = [1, 16], max_change = 2 }").parameters["gpus"].max_change == 2


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (
            "[parameters]\nbatch_size = { min = 64, max = 32 }",
            r"\[parameters\] batch_size: min = 64 is above max = 32; swap them",
        ),
        ("[parameters]\nbatch_size = { choices = [] }", r"choices: \[\] is not a list of numbers; write e\.g\."),
        ("[parameters]\nbatch_size = { choices = ['a'] }", r"choices: 'a' is not a number; "),
        ("[parameters]\nbatch_size = { min = 8, choices = [1, 2] }", r"choices: none is within 8 to inf; "),
        ("[parameters]\nbatch_size = { min = true }", r"min: True is not a number; "),
        ("[parameters]\nbatch_size = { max = nan }", r"max: nan is not a number; "),
        ("[parameters]\nbatch_size = { max = inf }", r"max: inf is not a number; "),
        ("[parameters]\nbatch_size = { min = -1 }", r"min: -1 is too small; write a number of at least 0"),
        ("[parameters]\nbatch_size = { maxx = 4 }", r"unknown key 'maxx'; did you mean max\?"),
        ("[parameters]\nbatch_size = { step = 'pow3' }", r"step: 'pow3' is not known; "),
        ("[parameters]\nbatch_size = { max_change = 1 }", r"max_change: 1 is too small; write a number above 1"),
        ("[parameters]\nbatch_size = { multiple_of = 0 }", r"multiple_of: 0 is too small; write a number above 0"),
        ("[parameters]\nbatch_size = { multiple_of = 2.5 }", r"batch_size multiple_of: batch_size is a whole number; write"),
        ("[parameters]\nbatch_size = { freeze = 'maybe' }", r"freeze: 'maybe' is neither true nor false; "),
        ("[parameters]\nbatch_size = { key = 'batch_size' }", r"key: 'batch_size' is not section.option; "),
        ("[parameters]\nbatchsize = { min = 1 }", r"\[parameters\]: unknown key 'batchsize'; known are batch_size"),
        ("[parameters]\nbatch_size = 64", r"\[parameters\] batch_size: 64 is not a table; "),
        ("quota = 8", r"\[quota\]: 8 is not a table; "),
        ("[quota]\ngpu = 8", r"\[quota\]: unknown key 'gpu'; did you mean gpus\?"),
        ("[quota]\nthis_machine = 'yes'", r"\[quota\] this_machine: 'yes' is neither true nor false; "),
        ("[parameters]\nbatch_size = { max_chnage = 2 }", r"batch_size: unknown key 'max_chnage'; did you mean max_change\?"),
        ("[quota]\nowners = ['gpus']", r"\[quota\]: unknown key 'owners'; known are gpus"),
        ("[quota]\ngpus = 'many'", r"\[quota\] gpus: 'many' is not a number; "),
        ("[quota]\nusd_per_hour = 5", r"\[quota\] usd_per_hour: no price is known; "),
        ("[sla]\ntime_max = 'soon'", r"\[sla\] time_max: 'soon' is not a duration; "),
        ("[sla]\ncost_max = []", r"\[sla\] cost_max: \[\] is not a number; "),
        ("[sla]\ncost_max = 0", r"\[sla\] cost_max: 0 is too small; write a number above 0"),
        ("[sla]\ngpu_util_min = 95", r"\[sla\] gpu_util_min: 95 is too large; write a number of at most 1"),
        ("[sla]\nmemory_max_gib = inf", r"\[sla\] memory_max_gib: inf is not a number; "),
        ("[sla]\ntimemax = 5", r"\[sla\]: unknown key 'timemax'; did you mean time_max\?"),
    ],
)
def test_what_cannot_be_a_limit_is_refused_by_place_finding_and_remedy(toml, message):
    with pytest.raises(ValueError, match=message):
        limits(toml)


@pytest.mark.parametrize(
    ("text", "value"), [("6h", 21600), ("90m", 5400), ("10s", 10), ("2d", 172800), ("1.5h", 5400), (30, 30), (None, None)]
)
def test_durations_become_seconds(text, value):
    assert seconds(text, "[sla] time_max") == value


def test_holding_names_the_reason_and_leaves_the_rest():
    held = Limits().holding(["gpus"], "pinned in config.ini").parameters
    assert held["gpus"].held == "pinned in config.ini"
    assert held["gpus"].max_change == DEFAULTS["gpus"].max_change
    assert held["cpus"] == DEFAULTS["cpus"]


@pytest.mark.parametrize("text", ["true", "'true'", "false"])
def test_this_machine_is_understood_and_asks_no_machine(text):
    assert limits(f"[quota]\ngpus = 8\nthis_machine = {text}").quota == Quota(gpus=8)


def test_a_machine_caps_only_what_it_has_less_of():
    quota = Quota(gpus=8, cpus=4).within({"gpus": 2.0, "cpus": 16.0})
    assert quota == Quota(gpus=2, cpus=4, owners={"gpus": "this machine"})
    assert Quota(gpus=8).within({}) == Quota(gpus=8)
