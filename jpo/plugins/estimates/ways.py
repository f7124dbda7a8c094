"""Ways of training: what config.ini says of precision, optimizer and the like, and what may be where it says nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

KEYS: Mapping[str, str] = {
    "tokens": r"(max_|model_)?(seq|sequence)_?(len|length)|(model_)?max_length|block_size|(max_)?context_(len|length)|n_ctx",
    "precision": r"((mixed_|training_|train_)?precision|(torch_)?dtype|(use_)?(amp|fp16|bf16|fp32))",
    "optimizer": r"optim|optimizer(_name|_type)?",
    "recomputes": r"(use_)?(gradient|grad|activation)_checkpointing|activation_recomputation",
    "shards": r"strategy|sharding(_strategy)?|fsdp(_strategy)?|(deepspeed_|ds_)?(zero_)?stage|zero",
    "attention": r"attn(_implementation|_impl)?|attention(_implementation|_type)?|(use_)?flash_att(entio)?n(_2)?",
    "hidden": r"hidden_(size|dim)|d_model|n_embd|dim_model|model_dim|embed(ding)?_dim",
    "intermediate": r"intermediate_(size|dim)|d_ff|ffn_(dim|hidden_size)|n_inner|dim_feedforward",
    "heads": r"(num_|n_)(attention_)?heads?|n_head|nhead",
    "vocabulary": r"vocab(ulary)?_size|n_vocab",
    "steps": r"max_(train_)?steps|(num_|total_)?train(ing)?_steps|total_steps",
    "samples": r"(num_)?train(ing)?_samples|(num_|n_)samples|dataset_size|train_size",
}
"""What is said of a job -> names of the options that say it, in lower case and with _ for -."""
OTHER = re.compile(
    r"lora|peft|adapter|quant|load_in_|offload|freez|froz|prompt_tuning|expert|(tensor|pipeline|context)_[a-z_]*par[a-z_]*=(?!1$)"
)
"""In "option=text": ways of training, and of dividing a model, that are not worked out here."""
SHORT = 2048
NO, YES = ("", "0", "false", "no", "none", "off", "null"), ("true", "yes", "on")


@dataclass(frozen=True, slots=True)
class Way:
    """One way of training.

    Attributes:
        weight, activation: bytes of a number; a gradient has those of a weight.
        states: numbers that the optimizer keeps for each parameter.
        recomputes: whether activations are computed anew in the backward pass.
        shards: what is divided among the GPUs: 0 nothing, 1 the optimizer's states, 2 gradients too, 3 all (the stages of ZeRO).
        scores: whether attention keeps a number for each pair of tokens.
        logits: bytes that one logit, its gradient and its copies take.
    """

    weight: float
    activation: float
    states: float
    recomputes: bool
    shards: int
    scores: bool
    logits: float


def said_in(options: Mapping[str, str]) -> dict[str, str] | None:
    """What options (name -> text) say of the training, by KEYS; None where one names a way that is not worked out here.

    A switch that is on says what its name says (`bf16 = true`); of several options for one thing the first that is on counts.
    """
    plain = {name.lower().replace("-", "_"): text.strip().strip("\"'").lower() for name, text in options.items()}
    if any(text not in NO and OTHER.search(f"{name}={text}") for name, text in plain.items()):
        return None
    said: dict[str, str] = {}
    for what, form in KEYS.items():
        found = [(name, text) for name, text in plain.items() if re.fullmatch(form, name)]
        if found:
            name, text = next((one for one in found if one[1] not in NO[2:]), found[0])
            said[what] = name if text in YES or (text == "1" and what == "precision") else text
    return said


def ways_of(said: Mapping[str, str], *, encoder: bool, gpus: float, tokens: float) -> tuple[Way, Way, Way]:
    """How a job probably trains, how with the least memory, and how with the most, by what is said of it.

    Where nothing is said: samples of up to SHORT tokens may keep all scores of attention, since fused kernels are younger than
    many scripts; longer ones could not.
    """
    attention, again = said.get("attention"), said.get("recomputes")
    numbers, states = _numbers(said.get("precision")), _states(said.get("optimizer", ""))
    recomputes = (False, True, False) if again is None else (again not in NO,) * 3
    shards = _shards(said.get("shards")) if gpus > 1 else (0, 0, 0)
    scores = (False, False, tokens <= SHORT) if attention is None else (bool(re.search("eager|math|false|no", attention)),) * 3
    logits = (0.0, 0.0, 10.0) if encoder else (10.0, 0.0, 14.0)  # 4 as a float, 4 its gradient, 2 before it was made one
    usual, least, most = (Way(*numbers[i], states[i], recomputes[i], shards[i], scores[i], logits[i]) for i in range(3))
    if usual.shards and usual.weight > usual.activation:  # what divides a model casts all of a layer at once
        usual = replace(usual, activation=2.0)
    return usual, least, most


def _numbers(text: str | None) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]]:
    """Bytes of a weight and of an activation. Mixed: weights have 4, and some activations, too, but where all is cast at once."""
    single, mixed, half = (4.0, 4.0), (4.0, 3.0), (2.0, 2.0)
    if text is None:
        return mixed, half, single
    if "16" not in text and not re.search("half|mixed|amp", text):
        return (single,) * 3
    if re.search("true|pure", text):
        return (half,) * 3
    return mixed, (4.0, 2.0) if re.search("mixed|amp", text) else half, mixed


def _states(text: str) -> tuple[float, float, float]:
    """Numbers for each parameter, of an optimizer by its name; 8-bit ones count as a quarter of a float."""
    kinds = {r"adafactor": (0.0, 0.0, 1.0), r"8.?bit|bnb": (0.5, 0.0, 0.5), r"lion|rms|adagrad|momentum": (1.0, 1.0, 1.0)}
    kinds |= {r"sgd": (1.0, 0.0, 1.0), r"adam|lamb": (2.0, 2.0, 2.0)}
    return next((states for form, states in kinds.items() if re.search(form, text)), (2.0, 0.0, 2.0))


def _shards(text: str | None) -> tuple[int, int, int]:
    if text is None:
        return 0, 3, 0
    if stage := re.search(r"(?:^|zero|stage|deepspeed)\D?([0-3])\b", text):
        return (int(stage[1]),) * 3
    kinds = {r"hybrid": (3, 3, 0), r"grad_op": (2, 2, 2), r"fsdp|full": (3, 3, 3), r"^(d?dp|ddp.*|no.*|single.*)$": (0, 0, 0)}
    return next((stages for form, stages in kinds.items() if re.search(form, text)), (0, 3, 0))
