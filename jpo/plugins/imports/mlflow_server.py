"""An MLflow server: the runs of its experiments over its REST API, through the guarded session (decision 0048).

One deadline, a limit on size, and no answer is trusted unchecked. Cells are called as in mlflow.py. Of the histories of metrics
only those are asked for that a run is judged by: its validation loss, and its GPUs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from jpo.errors import TelemetryError, UsageError
from jpo.files import reading
from jpo.http.answers import BUSY, Busy, CheckedAnswer, PassingTrouble
from jpo.http.endpoint import Endpoint
from jpo.http.quoting import quote
from jpo.plugins.imports.columns import usual_for
from jpo.plugins.imports.foreign import ForeignRun, ForeignRuns, as_text
from jpo.plugins.imports.mlflow import DELETED, KNOWN, MOST_POINTS, Points, is_of_a_gpu, run_of
from jpo.plugins.imports.table import MOST_RUNS
from jpo.plugins.imports.translate import NOT_OVER
from jpo.records import Skipped
from jpo.telemetry.outcome import UNTOLD

if TYPE_CHECKING:
    from jpo.http.session import GuardedSession

API = "api/2.0/mlflow"
PAGE = 200
"""Runs of an answer: some MiB where each has hundreds of metrics."""
MOST_NAMED = 10
"""Experiments that a message lists."""
Fields = Mapping[str, str | int | list[str]]
Ask = Callable[[str, Fields], Mapping[str, object]]
"""One question to the server: the end of the path, and its fields -> the answer's document."""


def read_server(source: Endpoint, experiments: Sequence[str], loss: str | None = None) -> ForeignRuns:
    """The runs of experiments, by their names or ids; `loss`: the cell of validation loss, whose curve is read as well.

    Raises UsageError: JPO-E158, no experiment is named, or the server has none of this name. TelemetryError: JPO-E101 to E109,
    the server does not answer, or not as MLflow does.
    """
    from jpo.http.session import GuardedSession, Service  # loads requests

    service = Service(
        "MLflow",
        check_answer,
        absent="check the address and that the server runs",
        late="raise [imports] timeout, or name fewer experiments",
        large="name fewer experiments, or import mlflow.search_runs().to_csv()",
    )
    with GuardedSession(source, service) as session:
        ask = _asker(session)
        ids = {_id_of(ask, session.place, name): name for name in experiments}
        if not ids:
            raise _no_experiment(ask, session.place, "names no experiment")
        runs, skipped = list[ForeignRun](), list[Skipped]()
        for document in _found(ask, session.place, list(ids)):
            info, data = _object(session.place, document, "info"), _object(session.place, document, "data")
            run_id = as_text(info.get("run_id") or info.get("run_uuid") or "")
            if not run_id:
                raise _strange(session.place, "answered with a run without an id")
            place = f"{session.place}: run {run_id}"
            if info.get("lifecycle_stage") == "deleted":
                skipped.append(Skipped(place, DELETED, UNTOLD))
                continue
            runs.append(_run(ask, place, run_id, info, data, loss))
    return ForeignRuns("mlflow", session.place, tuple(runs), KNOWN, tuple(skipped))


def check_answer(place: str, status: int, headers: Mapping[str, str], body: bytes) -> CheckedAnswer:
    """Accept an answer of MLflow's REST API, or say what it is instead.

    Raises PassingTrouble: worth another attempt; TelemetryError: JPO-E101 to E108; `NotThere` where the server has no such thing.
    """
    kind = headers.get("Content-Type", "").lower()
    try:
        document: Mapping[str, object] | None = reading.json_object(body)
    except ValueError:
        document = None
    said = quote((document or {}).get("message") or "no reason given")
    if status in (401, 403):
        what = "refused the credentials" if status == 401 else "does not allow this user to read"
        remedy = "check MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"
        raise TelemetryError(place, f"{what} (HTTP {status}): {said}", remedy, code="JPO-E101")
    if status == 404 and document and document.get("error_code") == "RESOURCE_DOES_NOT_EXIST":
        raise NotThere(place, said, "check its name", code="JPO-E158")
    if status in BUSY:
        raise Busy(place, f"is not available (HTTP {status}): {said}", "try again later", code="JPO-E102")
    if status == 200 and document is not None:
        return CheckedAnswer(document)
    if status == 200 and "json" in kind:
        raise PassingTrouble(place, "answer was cut off or is not JSON", "check the proxy in front of MLflow", code="JPO-E108")
    if document and "error_code" in document:
        finding = f"rejected the question (HTTP {status}): {said}"
        raise TelemetryError(place, finding, "report it as a bug of JPO", code="JPO-E105")
    what = "a web page (a sign-in page?)" if "html" in kind else f"HTTP {status} without an answer of MLflow"
    remedy = "check the address; is there a path such as /mlflow before its API?"
    raise TelemetryError(place, f"answered with {what}", remedy, code="JPO-E104")


class NotThere(TelemetryError):
    """Code JPO-E158: the server is MLflow's, and has no experiment of this name or id."""


def _asker(session: "GuardedSession") -> Ask:
    def ask(path: str, fields: Fields) -> Mapping[str, object]:
        address = f"{session.place}/{API}/{path}"
        if path.endswith("search"):
            session.post(address, json=dict(fields))
        else:
            session.get(address, params={name: str(value) for name, value in fields.items()})
        data = session.answer.data
        assert isinstance(data, Mapping)  # check_answer accepts nothing else
        return data

    return ask


def _id_of(ask: Ask, place: str, name: str) -> str:
    """The id of an experiment, by its name, else by its id."""
    questions = [("experiments/get-by-name", "experiment_name")]
    questions += [("experiments/get", "experiment_id")] if name.isascii() and name.isdecimal() else []
    for path, field in questions:
        try:
            found = _object(place, ask(path, {field: name}), "experiment").get("experiment_id")
        except NotThere:
            continue
        if not isinstance(found, str) or not found:
            raise _strange(place, "answered with an experiment without an id")
        return found
    raise _no_experiment(ask, place, f"has no experiment {name!r:.80}")


def _no_experiment(ask: Ask, place: str, finding: str) -> UsageError:
    """JPO-E158, with the names of those that there are."""
    answer = ask("experiments/search", {"max_results": MOST_NAMED + 1})
    names = [quote(one.get("name")) for one in _objects(place, answer, "experiments")]
    more = ", ..." if len(names) > MOST_NAMED else ""
    there = f"{', '.join(names[:MOST_NAMED]) or 'none'}{more}"
    return UsageError(place, finding, f"add --experiment NAME; it has {there}", code="JPO-E158")


def _found(ask: Ask, place: str, ids: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """All runs of experiments, page by page."""
    question: Fields = {"experiment_ids": list(ids), "max_results": PAGE, "order_by": ["attributes.start_time ASC"]}
    seen, count, token = set[str](), 0, ""
    while True:
        answer = ask("runs/search", {**question, **({"page_token": token} if token else {})})
        runs = _objects(place, answer, "runs")
        yield from runs
        count += len(runs)
        if count > MOST_RUNS:
            raise TelemetryError(place, f"has more than {MOST_RUNS} runs", "name fewer experiments", code="JPO-E109")
        given = answer.get("next_page_token") or ""
        if not given:
            return
        token = str(given)
        if token in seen or not runs:
            page = "the same page again" if runs else "an empty page that is not the last"
            raise _strange(place, f"answered with {page}")
        seen.add(token)


def _run(
    ask: Ask, place: str, run_id: str, info: Mapping[str, object], data: Mapping[str, object], loss: str | None
) -> ForeignRun:
    named = ((name, info.get(name)) for name in ("run_name", "status", "start_time", "end_time"))
    own = {name: as_text(value) for name, value in named if isinstance(value, str | int | float)}
    pairs = ((f"{kind}.{name}", value) for kind in ("params", "tags") for name, value in _pairs(place, data, kind))
    texts = {name: value for name, value in pairs if isinstance(value, str)}
    metrics = {point[0]: [point[1:]] for point in _points(place, data) if point}
    over = own.get("status", "").lower() not in NOT_OVER
    cells = {name: f"metrics.{name}" for name in metrics if over}
    for name in [name for name, cell in cells.items() if cell == loss or usual_for("val_loss", cell) or is_of_a_gpu(name)]:
        answer = ask("metrics/get-history", {"run_id": run_id, "metric_key": name, "max_results": MOST_POINTS})
        curve: Points = [(step, value) for _, step, value in _points(place, answer)]
        metrics[name] = [*curve, *(metrics[name] if len(curve) in (0, MOST_POINTS) else [])]
    return run_of(place, {"run_id": run_id, **own, **texts}, metrics)


def _points(place: str, data: Mapping[str, object]) -> Iterator[tuple[str, float, float]]:
    """Name, step and value of each point."""
    for one in _objects(place, data, "metrics"):
        name, step, value = one.get("key"), _number(one.get("step", 0)), _number(one.get("value", 0.0))
        if not isinstance(name, str) or step is None or value is None:
            raise _strange(place, "answered with malformed metrics")
        yield name, step, value


def _number(value: object) -> float | None:
    """A number of the answer, or a text that is one: "NaN", and whole numbers of 64 bits; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return reading.number(value) if isinstance(value, str) else float(value)
    except (ValueError, OverflowError):
        return None


def _pairs(place: str, data: Mapping[str, object], kind: str) -> Iterator[tuple[str, object]]:
    for one in _objects(place, data, kind):
        name, value = one.get("key"), one.get("value")
        if not isinstance(name, str):
            raise _strange(place, f"answered with malformed {kind}")
        yield name, value


def _object(place: str, document: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = document.get(name, {})
    if not isinstance(found, dict):
        raise _strange(place, f"answered with a malformed {name}")
    return found


def _objects(place: str, document: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """A list of the answer; MLflow leaves out what is empty."""
    found = document.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise _strange(place, f"answered with malformed {name}")
    return found


def _strange(place: str, finding: str) -> TelemetryError:
    return TelemetryError(place, finding, "is this an MLflow server, and no cache or stub in front of it?", code="JPO-E104")
