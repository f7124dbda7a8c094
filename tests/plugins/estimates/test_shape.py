import math

import pytest

from jpo.plugins.estimates.shape import inferred, named, rows_of, table


def test_the_shape_of_each_model_has_the_parameters_that_its_card_says() -> None:
    published = {row["name"]: float(row["parameters_millions"]) for row in rows_of("models.csv")}
    assert published.keys() == table().keys()
    for name, millions in published.items():
        assert table()[name].parameters == pytest.approx(1e6 * millions, rel=0.015), name


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("meta-llama/Llama-3.1-8B", "llama-3.1-8b"),
        ("meta-llama/Meta-Llama-3-8B-Instruct", "llama-3-8b"),
        ("NousResearch/Llama-2-7b-hf", "llama-2-7b"),
        ("bert-base-uncased", "bert-base"),
        ("bert_large_cased", "bert-large"),
        ("xlm-roberta-base", "xlm-roberta-base"),
        ("openai-community/gpt2-xl", "gpt2-xl"),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b"),
        ("mistralai/Mistral-7B-v0.1", "mistral-7b"),
    ],
)
def test_a_model_is_found_in_names_as_people_write_them(written: str, name: str) -> None:
    found = named(written)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "written", ["bert-tiny", "gpt2-tiny", "llama-3-1.8b", "deepseek-r1-distill-llama-8b", "resnet50", "", "/"]
)
def test_another_model_is_none_of_them(written: str) -> None:
    assert named(written) is None


def test_operations_are_six_for_each_parameter_and_token_and_those_of_attention() -> None:
    llama = table()["llama-2-7b"]
    of_embedding = 32000 * 4096
    assert llama.operations(2048) / 2048 == pytest.approx(6 * (6738.4e6 - of_embedding) + 12 * 32 * 4096 * 2048, rel=1e-3)


def test_a_layer_of_gpt_keeps_sixteen_numbers_for_each_of_its_width() -> None:
    assert table()["gpt2"].saved == 16 * 768
    assert math.isfinite(table()["llama-3.1-8b"].saved)


@pytest.mark.parametrize("layers_known", [True, False])
def test_a_shape_is_inferred_from_its_parameters(layers_known: bool) -> None:
    factors = []
    for shape in table().values():
        found = inferred(shape.parameters, shape.layers if layers_known else None)
        assert found.parameters == pytest.approx(shape.parameters)
        assert found.doubt > 0
        factors.append(found.operations(2048) / shape.operations(2048))
    assert min(factors) > 0.8
    assert max(factors) < 3.2  # an encoder with 250,000 words
    assert sum(factor < 1.25 for factor in factors) > 0.85 * len(factors)
    assert inferred(124e6, None).layers == pytest.approx(12, abs=1)
