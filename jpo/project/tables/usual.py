"""Hyperparameters that teams often tune and of which JPO knows nothing but how their line of [parameters] usually reads.

The ranges are those of the papers and of what frameworks document; they are a start for the team to correct, and nothing is read
or written by them.
"""

import re

RANGES = {
    r"(\w+_)?(dropout|dropout_rate|dropout_prob|dropout_p|drop_rate|drop_path_rate)": "min = 0.0, max = 0.5",  # Srivastava 2014
    r"(adam_)?(weight_decay|wd)": 'min = 1e-6, max = 0.1, scale = "log"',  # Loshchilov and Hutter 2019: 0.01
    r"(sgd_)?momentum": "min = 0.5, max = 0.99",
    r"label_smoothing(_factor)?": "min = 0.0, max = 0.2",  # Szegedy 2016: 0.1
    r"(num_)?warmup_steps": "min = 0, max = 2000, integer = true",
    r"warmup_(ratio|fraction|proportion)": "min = 0.0, max = 0.2",
    r"warmup_epochs": "min = 0, max = 10, integer = true",
    r"(max_grad_norm|grad(ient)?_clip(_val|_norm|ping)?|clip_grad(_norm)?)": 'min = 0.1, max = 10.0, scale = "log"',
    r"mixup(_alpha)?|cutmix(_alpha)?": "min = 0.0, max = 1.0",
}
"""Forms of option names, with - read as _, and what their line says."""
CHOICES = {
    r"optim(izer)?(_name|_type)?": ("adam", "sgd"),
    r"(lr_)?schedul(er|e)(_name|_type)?|lr_scheduler_type|lr_policy": ("cosine", "linear"),
}
"""The same of options that hold a word: two examples, of which the training code must know both."""
NUMBER = re.compile(r"[+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
PLAIN_WORD = re.compile(r"""["']?([A-Za-z][\w.-]{0,30})["']?""", re.ASCII)


def usual_line(key: str, text: str, *, alone: bool) -> str | None:
    """The line of [parameters] by which JPO would tune an option; None where its name or value is not that of such a one.

    `key`: `section.option`; `alone`: whether no other option has the name; else the section becomes part of the parameter's.
    """
    section, _, option = key.rpartition(".")
    name = _tame(option)
    if not set(key).isdisjoint('"\\') or not key.isprintable():
        return None
    ranges = (said for form, said in RANGES.items() if NUMBER.fullmatch(text) and re.fullmatch(form, name))
    said = next(ranges, None) or _choices(name, text)
    own = name if alone else f"{_tame(section)}_{name}"
    return f'{own} = {{ key = "{key}", {said} }}' if said and re.fullmatch("[a-z][a-z0-9_]{0,63}", own) else None


def _choices(name: str, text: str) -> str | None:
    word = PLAIN_WORD.fullmatch(text)
    examples = next((words for form, words in CHOICES.items() if re.fullmatch(form, name)), None)
    if word is None or examples is None or word[1].lower() in ("none", "auto", "true", "false"):
        return None
    another = next(example for example in examples if example != word[1].lower())
    return f'choices = ["{word[1]}", "{another}"]'


def _tame(name: str) -> str:
    return re.sub("[^a-z0-9_]", "_", name.lower())
