import pytest

from jpo.plugins.estimates.ways import Way, said_in, ways_of


def usual(**options: str) -> Way:
    return ways(**options)[0]


def ways(gpus: float = 8, **options: str) -> tuple[Way, Way, Way]:
    said = said_in(options)
    assert said is not None
    return ways_of(said, encoder=False, gpus=gpus, tokens=4096.0)


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ({"precision": "32-true"}, (4, 4)),
        ({"mixed_precision": "no"}, (4, 4)),
        ({"fp16": "False"}, (4, 4)),
        ({"precision": "bf16-mixed"}, (4, 3)),
        ({"fp16": "true"}, (4, 3)),
        ({"bf16": "false", "fp16": "1"}, (4, 3)),
        ({"precision": '"bf16-true"'}, (2, 2)),
        ({}, (4, 3)),
    ],
)
def test_the_precision_says_how_many_bytes_numbers_have(options: dict[str, str], numbers: tuple[float, float]) -> None:
    way = usual(**options)
    assert (way.weight, way.activation) == numbers


def test_sixteen_bits_may_be_meant_for_weights_too() -> None:
    _, least, most = ways(torch_dtype="bfloat16")
    assert (least.weight, most.weight) == (2, 4)


@pytest.mark.parametrize(
    ("text", "states"), [("adamw_torch", 2), ("paged_adamw_8bit", 0.5), ("SGD", 1), ("lion", 1), ("adafactor", 0), ("muon", 2)]
)
def test_an_optimizer_keeps_as_many_numbers_as_its_kind(text: str, states: float) -> None:
    assert usual(optim=text).states == states


@pytest.mark.parametrize(
    ("options", "stage"),
    [
        ({"zero_stage": "3"}, 3),
        ({"strategy": "deepspeed_stage_2"}, 2),
        ({"fsdp": "full_shard auto_wrap"}, 3),
        ({"fsdp": "true"}, 3),
        ({"sharding_strategy": "SHARD_GRAD_OP"}, 2),
        ({"zero_stage": "1"}, 1),
        ({"strategy": "ddp"}, 0),
        ({"strategy": "something"}, 0),
    ],
)
def test_a_strategy_says_what_is_divided(options: dict[str, str], stage: int) -> None:
    assert usual(**options).shards == stage
    assert usual(gpus=1, **options).shards == 0


def test_what_is_not_said_may_be_otherwise() -> None:
    way, least, most = ways()
    assert (way.recomputes, least.recomputes, most.recomputes) == (False, True, False)
    assert (way.shards, least.shards) == (0, 3)
    assert usual(gradient_checkpointing="true").recomputes
    assert [one.recomputes for one in ways(gradient_checkpointing="false")] == [False] * 3


@pytest.mark.parametrize(
    "options",
    [{"lora_r": "8"}, {"method": "QLoRA"}, {"load_in_4bit": "true"}, {"tensor_parallel_size": "2"}, {"cpu_offload": "yes"}],
)
def test_other_ways_to_train_are_not_known(options: dict[str, str]) -> None:
    assert said_in(options) is None


def test_a_switch_that_is_off_says_nothing() -> None:
    assert said_in({"use_lora": "false", "tensor_parallel_size": "1", "offload": "none"}) == {}
