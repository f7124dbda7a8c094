"""Runs that go on, in a sentence each: since when, with which values, how far, and how busy."""

from collections.abc import Iterator

from jpo.records import KUBERNETES, Running, in_order
from jpo.wording import names, numbers

DOES_NOT_COUNT = "it does not count until it ended"


def sentence(run: Running) -> str:
    """`night-7 since 2026-11-22 02:00 UTC (1h 20m): batch 64; 45% done, ends about 2026-11-22 04:57 UTC; 1240 samples/s`."""
    return f"{since(run)}: {'; '.join(filter(None, (values(run), progress(run), '; '.join(use(run)))))}"


def since(run: Running) -> str:
    """Its id, and when it began."""
    if run.started_at is None or run.elapsed_seconds is None:
        return f"{run.run_id}, which does not report when it started"
    return f"{run.run_id} since {numbers.moment(run.started_at)} UTC ({numbers.duration(run.elapsed_seconds)})"


def values(run: Running) -> str:
    """Its parameters, and which of them it does not say itself."""
    known = {name: f"{names.short(name)} {numbers.written(name, run.parameters[name])}" for name in in_order(run.parameters)}
    said = [text for name, text in known.items() if name not in run.assumed]
    taken = [text for name, text in known.items() if name in run.assumed]
    assumed = f"by the suggestion in force {', '.join(taken)}" if taken else ""
    return ", ".join([*said, *filter(None, (assumed,))]) or "with values that it does not report"


def progress(run: Running) -> str:
    """How far it is, and when it may end."""
    if run.silent:
        return "it has reported nothing for minutes: a gap between scrapes, or it is gone"
    done = "" if run.share_done is None else f"{numbers.percent(run.share_done)} done"
    if not done and run.source == KUBERNETES:
        done = "its pod does not report how far it is"
    if run.ends_at is None:
        return done
    late = run.ends_at < run.seen_at
    end = "it takes longer than runs like it did" if late else f"ends about {numbers.moment(run.ends_at)} UTC"
    return ", ".join(filter(None, (done, end)))


def use(run: Running) -> Iterator[str]:
    """What it used in the last minutes."""
    if run.samples_per_second is not None:
        yield f"{run.samples_per_second:.4g} samples/s"
    if run.gpu_utilisation is not None:
        yield f"GPUs {numbers.percent(run.gpu_utilisation)} busy"
    if run.cpu_cores is not None:
        yield f"{run.cpu_cores:.3g} CPUs busy"
    if run.memory_gib is not None:
        yield f"{numbers.gib(run.memory_gib)} of memory"
