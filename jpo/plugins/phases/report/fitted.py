"""Phases of traces: how many, what each uses and for how long, what follows; rows of samples as CSV."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from jpo.plugins.phases.forecast import PhaseForecast
from jpo.plugins.phases.table import QUANTITIES, PhaseFigures, in_units
from jpo.plugins.phases.traces import Traces
from jpo.records import uncoded
from jpo.report.document import Cell, Column, Document, Row, Section, Span, Table
from jpo.report.forms.csv import Raw, csv_line
from jpo.wording.numbers import counted, plain

HEAD = ("exec_id", "t", "phase", "probability")
USES = (
    *(Column("phase", "figure"), Column("share", "figure", "share"), Column("stays", "figure")),
    Column("dwell", "figure", "duration_seconds"),
    *(Column(name, "figure") for name in ("mean", "p50", "p95", "p99", "max")),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of execution: how many follow it, the one in its middle, and that one's phases."""

    executions: int
    medoid: str
    phases: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ComingPhase:
    """What is expected of an execution after its last sample, and the one in the middle of the kind that it follows."""

    execution: str
    like: str
    expected: PhaseForecast


@dataclass(frozen=True, slots=True)
class Phases:
    """Phases in traces.

    Attributes:
        method: by which they were found.
        traces: in which.
        figures: of each phase.
        notes: what the reader must not miss.
        bars: of each execution its phases, as one line; none where nobody asked.
        kinds, coming: kinds of executions, and what is expected of each; none where nobody asked.
    """

    method: str
    traces: Traces
    figures: tuple[PhaseFigures, ...]
    notes: tuple[str, ...] = ()
    bars: tuple[tuple[str, str], ...] = ()
    kinds: tuple[Kind, ...] = ()
    coming: tuple[ComingPhase, ...] = ()


def document(found: Phases) -> Document:
    used = (
        Table(USES, tuple(_use(figures, feature) for figures in found.figures), feature, feature)
        for feature in found.traces.features
    )
    return Document(
        (Span(counted(len(found.figures), "phase")), f" by {found.method} in {found.traces.extent} of {found.traces.place}"),
        (
            *used,
            _transitions(found.figures),
            Table((Column("execution", "key"), Column("over time")), found.bars, "courses", "Courses"),
            Section("Kinds of executions", (_kinds(found.kinds),)),
            Section("After the last sample", (_coming(found.coming),)),
            *uncoded(found.notes),
        ),
    )


def _use(figures: PhaseFigures, feature: str) -> Row:
    use = figures.used.get(feature)
    dwell = Cell("" if figures.dwell_seconds is None else figures.dwell_seconds, "duration_seconds")
    values = (use.mean, use.p50, use.p95, use.p99, use.most) if use else (None,) * 5
    cells = (Cell(None if value is None else in_units(feature, value), QUANTITIES.get(feature, "")) for value in values)
    return (figures.phase, figures.share, figures.stays, dwell, *cells)


def _transitions(phases: Sequence[PhaseFigures]) -> Table:
    """Of the changes from each phase, the share that led to each other one."""
    columns = (Column("from", "figure"), *(Column(f"to {figures.phase}", "figure", "share") for figures in phases))
    rows: tuple[Row, ...] = tuple(
        (figures.phase, *(figures.next.get(other.phase, "") for other in phases)) for figures in phases if figures.next
    )
    return Table(columns, rows, "transitions", "what follows")


def _kinds(kinds: Sequence[Kind]) -> Table:
    columns = (Column("executions", "figure"), Column("like", "key"), Column("phases"))
    return Table(columns, tuple((kind.executions, kind.medoid, " ".join(map(str, kind.phases))) for kind in kinds), "kinds")


def _coming(coming: Sequence[ComingPhase]) -> Table:
    since, left, stay = (Column(name, "figure", "duration_seconds") for name in ("since", "in", "for"))
    columns = (
        *(Column("execution", "key"), Column("like"), Column("phase", "figure"), since),
        *(Column("next phase", "figure"), left, stay),
        *(Column("CPU, 95%", "figure", "cpu_cores_mean"), Column("memory, 95%", "figure", "memory_gib")),
    )
    rows: tuple[Row, ...] = tuple(
        (
            one.execution,
            one.like,
            expected.phase,
            expected.since_seconds,
            *("" if value is None else value for value in (expected.next_phase, expected.left_seconds, expected.stay_seconds)),
            expected.cpu_cores,
            expected.memory_gib,
        )
        for one in coming
        for expected in (one.expected,)
    )
    return Table(columns, rows, "ahead")


def as_json(found: Phases) -> dict[str, object]:
    """`{"schema_version", "method", "executions", "samples", "phases": [...], "notes"}`; sizes in bytes, times in seconds."""
    return {
        "schema_version": 1,
        "method": found.method,
        "executions": len(found.traces.executions),
        "samples": found.traces.samples,
        "phases": [
            {**asdict(figures), "next": {str(phase): share for phase, share in figures.next.items()}} for figures in found.figures
        ],
        "kinds": [asdict(kind) for kind in found.kinds],
        "ahead": [{"execution": one.execution, "like": one.like, **asdict(one.expected)} for one in found.coming],
        "notes": list(found.notes),
    }


def samples_csv(rows: Iterable[tuple[str, float, int, float]]) -> str:
    """One line per sample: execution, Unix seconds, phase, its probability."""
    lines: Iterable[tuple[Raw, ...]] = ((name, moment(t), phase, float(plain(share))) for name, t, phase, share in rows)
    return "".join(csv_line(line, whole=True) for line in (HEAD, *lines))


def moment(t: float) -> float:
    """Unix seconds as the file had them: whole ones without a point."""
    return int(t) if t.is_integer() else t
