"""`jpo suggest` of several config.ini: each is decided as if it were alone, and an error of one does not stop the others.

They share what does not depend on them: the process, their open history, and the time in which the agent learns afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from jpo.cli.gate import ReaderGone, complain
from jpo.cli.output import Output, track, writable
from jpo.cli.suggest import Asked
from jpo.commands.learn import learn_after_suggestion
from jpo.commands.suggest import suggest
from jpo.errors import JpoError, NothingAdmissible
from jpo.history import Store
from jpo.learning.deadline import in_seconds
from jpo.project.load import LoadedSettings
from jpo.project.project import histories_kept
from jpo.project.request import learn_seconds_of
from jpo.report import suggestions
from jpo.report.answer import Report
from jpo.report.suggestions import Answer, Unanswered

T = TypeVar("T")


def suggest_each(paths: Sequence[Path], asked_of: Callable[[Path], Asked], output: Output, *, changed: int) -> int:
    """Answer for each file; they are shown together, an error as soon as it is known.

    `changed`: the exit code where a file would change. Returns the highest exit code of those without an answer, else that or 0.

    Raises UsageError: JPO-E307, a result would destroy what one of them works with, before anything is done.
    """
    with histories_kept() as histories:
        asked = [_tried(path, lambda path: sharing(asked_of(path), histories)) for path in paths]
        for one in asked:
            if isinstance(one, Asked):
                writable(output.files, one.config, one.settings)
        answers = [_answer(asked[at]) for at in track(range(len(asked)), "suggest")]
        learning = [one for one, answer in zip(asked, answers, strict=True) if isinstance(one, Asked) and _learns(one, answer)]
        try:
            output.show(suggestions, answers, on_record=any(isinstance(one, Report) and one.written for one in answers))
        except ReaderGone:
            learn_from_each(learning)
            raise
        learn_from_each(learning)
    failed = [one.error.exit_code for one in answers if isinstance(one, Unanswered)]
    changes = any(isinstance(one, Report) and one.suggestion.changes_file for one in answers)
    return max(failed, default=changed if changes else 0)


def sharing(one: Asked, histories: Callable[[LoadedSettings, bool], Store]) -> Asked:
    """What is asked, with histories that are open already."""
    own, lasting = (replace(of, caller=replace(of.caller, histories=histories)) for of in (one.settings, one.lasting))
    return replace(one, settings=own, lasting=lasting)


def _tried(path: Path, step: Callable[[Path], T]) -> T | Unanswered:
    """What a step has for a file; why it has nothing is told at once."""
    try:
        return step(path)
    except JpoError as error:
        about = "" if str(error).startswith(str(path)) else f"{path}: "
        complain(f"{about}{error} [{error.code}]")
        return Unanswered(path, error)


def _answer(one: Asked | Unanswered) -> Answer:
    return _tried(one.config, lambda path: suggest(path, one.settings, one.options)) if isinstance(one, Asked) else one


def _learns(one: Asked, answer: Answer) -> bool:
    """Whether there may be new runs on record of what was asked: also where nothing is admissible."""
    collected = isinstance(answer, Report) or isinstance(answer.error, NothingAdmissible)
    return collected and one.options.learn and not one.options.dry_run


def learn_from_each(asked: Sequence[Asked]) -> None:
    """Let the agent take in what is new, for as long as the longest [agent] learn_budget of them says: of one file after the
    other in half of it, in the rest the release test goes on. It begins elsewhere each time, so that none waits for ever.
    """
    if not asked:
        return
    first, end = int(time.time()) % len(asked), in_seconds(max(learn_seconds_of(one.lasting) for one in asked))
    turns, half = [*asked[first:], *asked[:first]], end.half_way
    for one, until in [*((one, half) for one in turns), (turns[-1], end)]:
        if (seconds := until.at - time.monotonic()) > 0:
            options, tests = one.options, until is end
            now, seed = options.now, options.seed
            if said := learn_after_suggestion(one.config, one.lasting, now=now, seed=seed, tests=tests, most_seconds=seconds):
                complain(f"{one.config}: {said}")
