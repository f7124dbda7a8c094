from jpo.plugins.launch.report.watch.launched import LaunchedRun, LaunchedRuns, as_json, document
from jpo.records import Identity
from jpo.report.forms import text

RUNS = LaunchedRuns(
    (
        LaunchedRun("a", Identity("d", "m", "f"), "slurm", "waiting", 1000.0, "(Priority)"),
        LaunchedRun("b", Identity("d", "m", "f"), "prometheus", "running", None, share_done=0.4),
    ),
    ("cluster: does not answer [JPO-E754]",),
)


def shown(runs):
    return text.render(document(runs), width=120, colour=False, encoding="utf-8")


def test_each_run_has_a_line():
    page = shown(RUNS)
    assert "(Priority)" in page
    assert "40%" in page
    assert "does not answer" in page


def test_an_empty_list_says_how_to_start_one():
    assert "`jpo run`" in shown(LaunchedRuns(()))


def test_programs_get_the_same():
    assert [run["state"] for run in as_json(RUNS)["runs"]] == ["waiting", "running"]
