"""A published suggestion read again: the document of `jpo suggest --output-file suggestion.json`, as a report.

It may come from another job, as an artifact: it is data, validated by its schema, and nothing is decided by it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path

from pydantic import ValidationError

from jpo.errors import UsageError
from jpo.files.reading import contents, json_object
from jpo.records import (
    FORECAST,
    Change,
    Evidence,
    Forecast,
    Guarded,
    Identity,
    Interval,
    Preference,
    RuleApplied,
    SlaCheck,
    TrackRecord,
    reasons_as_stored,
    suggestion_from,
    uncoded,
    value_of,
)
from jpo.report.answer import Report
from jpo.report.suggestion_schema import ChangeDocument, ForecastDocument, IntervalDocument, SuggestionDocument
from jpo.wording import names

LARGEST_BYTES = 8 << 20
SMALLEST, LARGEST = 1e-15, 1e15
"""Of any figure in it: seconds, USD, losses, values, unix seconds. Beyond, ratios have no number any more."""
AS_PUBLISHED = (
    *("suggestion_id", "status", "created_at", "seed", "seen", "policy", "kind", "trial"),
    *("decided_by", "confidence", "undoes", "pinned_until"),
)
"""Fields that are in the document as they are."""


def read_report(file: Path) -> Report:
    """The report that a suggestion.json holds; in which currency its amounts are shown is not in it.

    Raises UsageError: JPO-E908, it cannot be read, or is none.
    """

    def refusal(finding: str) -> UsageError:
        return UsageError(str(file), finding, "write it with `jpo suggest --output-file suggestion.json`", code="JPO-E908")

    try:
        return report_of(json_object(contents(file, LARGEST_BYTES, refusal)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise refusal(f"is not a suggestion of this version of JPO: {where}: {first['msg']}") from error
    except ValueError as error:
        raise refusal(str(error)) from error


def report_of(given: Mapping[str, object]) -> Report:
    """The report of a published document. Raises ValueError: it is none, or says what cannot be."""
    document = SuggestionDocument.model_validate(given)
    figures = _numbers(document.model_dump(exclude={"seed"}))
    if wild := next((number for number in figures if number and not SMALLEST <= abs(number) <= LARGEST), None):
        raise ValueError(f"has the number {wild!s:.40}, which nothing of a run can be")
    targets = (*names.TARGETS, *(f"{name}{end}" for name in document.forecast.metrics for end in ("_min", "_max")))
    if "\0" in document.config:
        raise ValueError(f"names a config.ini {document.config!r:.80}, which no file can be called")
    unknown = [check.name for check in document.sla if check.name not in targets]
    if unknown:
        raise ValueError(f"has a target {unknown[0]!r:.80}, which is none")
    reasons, codes = reasons_as_stored({**document.model_dump(), "codes": document.reason_codes})
    suggestion = suggestion_from(
        **{name: getattr(document, name) for name in AS_PUBLISHED},
        identity=Identity(**document.workload.model_dump()),
        keys={change.parameter: change.key for change in document.changes},
        current={name: value_of(value) for name, value in document.current.items()},
        suggested={name: value_of(value) for name, value in document.suggested.items()},
        changes=tuple(_change(change) for change in document.changes),
        now=_forecast(document.forecast, "now"),
        next=_forecast(document.forecast, "next"),
        guard=Guarded(document.guard.approved, uncoded(document.guard.violations), uncoded(document.guard.notices)),
        evidence=Evidence(document.evidence.runs_used, notes=uncoded(document.evidence.notes), codes=codes),
        reasons=reasons,
        preference=Preference(**{field.name: document.preference.get(field.name, 0.0) for field in fields(Preference)}),
        sla=tuple(SlaCheck(**check.model_dump()) for check in document.sla),
        difference={name: Interval(**ends.model_dump()) for name, ends in document.difference.items()},
        rules=tuple(RuleApplied(**rule.model_dump()) for rule in document.rules),
        as_run=tuple(document.as_run),
    )
    track = tuple(TrackRecord(**past.model_dump()) for past in document.track_record)
    return Report(suggestion, Path(document.config), document.written, track)


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def _change(document: ChangeDocument) -> Change:
    return Change(**{**document.model_dump(), "old": value_of(document.old), "new": value_of(document.new)})


def _forecast(document: ForecastDocument, when: str) -> Forecast:
    """One side of all forecasts; of metrics of the user's own those that are known."""
    own = {name: _interval(getattr(both, when)) for name, both in document.metrics.items()}
    return Forecast().having({**{name: _interval(getattr(getattr(document, name), when)) for name in FORECAST}, **own})


def _interval(document: IntervalDocument | None) -> Interval | None:
    return None if document is None else Interval(**document.model_dump())
