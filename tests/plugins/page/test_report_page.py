"""The page of `jpo report` in a real Chromium: what it says on its console, axe-core, keyboard, schemes, widths, print, time."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attacks import ATTACKS
from reviewed import SIZES, a_month_of, put

from jpo.__main__ import run
from jpo.history import open_store
from jpo.records import Identity

sync = pytest.importorskip("playwright.sync_api", reason="make test installs playwright")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="make test installs axe-playwright-python")
TOML = '[prices]\nusd_per_gpu_hour = 2.0\n[sla]\ntime_max = "3h"\n'


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    with sync.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])  # root has no other way
        yield started
        started.close()


def written(folder: Path, *workloads: tuple[Identity, int], code: int = 0, sizes: Sequence[float] = SIZES, of: str = "") -> Path:
    """The page of a store with these workloads, each with so many suggestions; `of`: the one with this config.ini."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("jpo.toml").write_text(TOML)
        with open_store("sqlite:///.jpo/jpo.db") as store:
            for number, (identity, suggestions) in enumerate(workloads):
                put(store, a_month_of(identity, suggestions=suggestions, seed=number, sizes=sizes))
        Path("config.ini").write_text(of)
        assert run(["report", *(["config.ini"] if of else []), "--html", "report.html"]) == code
    return folder / "report.html"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobs = ((Identity("cifar10", "resnet18", "pytorch"), 60), (Identity("digits", "cnn", "pytorch"), 5))
    return written(tmp_path_factory.mktemp("page"), *jobs)


class Opened:
    """A page in a window of its own, and all that it said or asked for."""

    def __init__(
        self, browser: Any, file: Path, *, width: int = 1280, scheme: str = "light", scripts: bool = True, unfold: bool = True
    ) -> None:
        window = {"width": width, "height": 900}
        self.context = browser.new_context(viewport=window, color_scheme=scheme, java_script_enabled=scripts)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("request", lambda request: self.said.append(request.url) if request.url != file.as_uri() else None)
        self.page.goto(file.as_uri())
        if unfold:
            self.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")

    def grid(self, title: str) -> Any:
        """What is below a heading."""
        return self.page.locator("section section").filter(has=self.page.get_by_role("heading", name=title, exact=True)).first

    def rows(self, title: str) -> int:
        return int(self.grid(title).locator("tbody tr:visible").count())

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.mark.parametrize("width", [360, 1280, 3840])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_the_page_fits(browser: Any, page: Path, width: int, scheme: str) -> None:
    with Opened(browser, page, width=width, scheme=scheme) as opened:
        found = axe.Axe().run(opened.page).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"][:3]]) for one in found] == []
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.said == []


def test_axe_finds_nothing_where_nothing_is_on_record_nor_where_the_chain_is_broken(browser: Any, tmp_path: Path) -> None:
    job = (Identity("cifar10", "resnet18", "pytorch"), 3)
    for name, workloads in (("empty", ()), ("broken", (job,))):
        (tmp_path / name).mkdir()
        file = written(tmp_path / name, *workloads)
        if workloads:
            store = sqlite3.connect(file.parent / ".jpo" / "jpo.db")
            store.execute("DROP TRIGGER audit_is_never_changed")
            store.execute("UPDATE audit SET data = '{}' WHERE number = 2")
            store.commit()
            store.close()
            file = written(file.parent, code=5)
        with Opened(browser, file) as opened:
            assert axe.Axe().run(opened.page).response["violations"] == []
            assert opened.page.get_by_role("alert").count() == len(workloads)


def test_schemes_differ(browser: Any, page: Path) -> None:
    colours = []
    for scheme in ("light", "dark"):
        with Opened(browser, page, scheme=scheme) as opened:
            colours.append(opened.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours == ["rgb(255, 255, 255)", "rgb(22, 25, 29)"]


def test_all_of_it_can_be_done_with_the_keyboard(browser: Any, page: Path) -> None:
    with Opened(browser, page) as opened:
        keyboard, grid = opened.page.keyboard, opened.grid("Runs")
        filter_ = grid.get_by_role("searchbox")
        for _ in range(100):
            if filter_.evaluate("one => one === document.activeElement"):
                break
            keyboard.press("Tab")
        keyboard.type("S-CIFAR10-5 Succeeded")
        assert grid.get_by_role("status").inner_text() == "1 to 9 of 9"
        keyboard.press("Control+A")
        keyboard.press("Delete")
        keyboard.press("Tab")
        keyboard.press("Enter")
        assert grid.get_by_role("status").inner_text() == "51 to 68 of 68"
        while opened.page.evaluate("document.activeElement.textContent") != "duration":
            keyboard.press("Tab")
        keyboard.press("Enter")
        assert grid.get_by_role("columnheader", name="duration").get_attribute("aria-sort") == "ascending"
        assert opened.said == []


def test_rows_are_sorted_by_what_they_mean(browser: Any, page: Path) -> None:
    with Opened(browser, page) as opened:
        grid = opened.grid("Runs")
        for order in (1, -1):
            grid.get_by_role("button", name="duration", exact=True).click()
            shown = grid.locator("tbody tr:visible").evaluate_all("rows => rows.map(row => Number(row.cells[4].dataset.v))")
            assert len(shown) == 50
            assert shown == sorted(shown, reverse=order < 0)


def test_a_word_that_is_nowhere_leaves_no_row_and_says_so(browser: Any, page: Path) -> None:
    with Opened(browser, page) as opened:
        opened.grid("Runs").get_by_role("searchbox").fill("<b>nowhere")
        assert opened.rows("Runs") == 0
        assert opened.grid("Runs").get_by_role("status").inner_text() == "no row has these words"


def test_paper_has_the_rows_of_the_screen_and_says_of_how_many_and_no_buttons(browser: Any, page: Path) -> None:
    with Opened(browser, page, width=1030) as opened:  # A4, landscape, less its margins, at 96 dots per inch
        assert opened.rows("Runs") == 50
        opened.page.emulate_media(media="print")
        assert opened.rows("Runs") == 50
        assert opened.grid("Runs").get_by_role("status").inner_text() == "1 to 50 of 68"
        assert opened.page.evaluate("Math.max(...[...document.querySelectorAll('table')].map(one => one.scrollWidth))") <= 1030
        assert not opened.grid("Runs").get_by_role("searchbox").is_visible()
        shown = opened.grid("Runs").locator("thead button").first.evaluate("one => getComputedStyle(one).display")
        assert shown == "contents", "with anything else Chromium repeats no headings on further pages"


def test_without_scripts_every_row_is_there(browser: Any, page: Path) -> None:
    with Opened(browser, page, scripts=False) as opened:
        assert opened.rows("Runs") == 68


def test_no_other_script_would_run(browser: Any, page: Path, tmp_path: Path) -> None:
    text = page.read_text().replace("</main>", "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'></main>")
    (tmp_path / "pwned.html").write_text(text)
    with Opened(browser, tmp_path / "pwned.html") as opened:
        assert opened.page.evaluate("window.pwned") is None
        assert len([said for said in opened.said if "Content Security Policy" in said]) >= 2


def test_names_are_shown_and_never_run(browser: Any, tmp_path: Path) -> None:
    hostile = [(Identity(attack, attack, attack), 1) for attack in ATTACKS]
    with Opened(browser, written(tmp_path, *hostile), width=360) as opened:
        assert opened.said == []
        assert opened.page.locator("h2").count() == len(ATTACKS) + 3
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_of_5000_runs_those_of_a_page_are_drawn_and_kept_nights_are_one_line(browser: Any, tmp_path: Path) -> None:
    """How long it takes is for benchmarks: what a browser lays out is what takes time, and that does not grow."""
    config = "[workload]\ndataset = cifar10\nmodel = resnet18\nframework = pytorch\n[training]\nbatch_size = 64\n"
    with Opened(browser, written(tmp_path, (Identity("cifar10", "resnet18", "pytorch"), 5000), of=config)) as opened:
        assert opened.grid("Runs").get_by_role("status").inner_text() == "1 to 50 of 1000"
        assert opened.rows("Runs") == 50
        assert 5 < opened.rows("Suggestions") <= 12


def test_40_jobs_are_on_one_screen_and_each_leads_to_its_details(browser: Any, tmp_path: Path) -> None:
    jobs = [(Identity(f"data-{number:02}", "resnet18", "pytorch"), 2) for number in range(40)]
    with Opened(browser, written(tmp_path, *jobs), unfold=False) as opened:
        rows = opened.page.locator("table").first.locator("tbody tr")
        assert rows.count() == 40
        assert rows.last.evaluate("one => one.getBoundingClientRect().bottom") <= 900
        details = opened.page.locator("details").filter(has_text="data-23").first
        assert details.get_attribute("open") is None
        opened.page.get_by_role("link", name="data-23/resnet18/pytorch").click()
        details.get_by_role("heading", name="Suggestions").wait_for(state="visible")
        opened.page.get_by_role("searchbox").first.fill("data-3")
        assert opened.page.get_by_role("status").first.inner_text() == "1 to 10 of 10"
        assert opened.said == []


def test_on_a_phone_what_each_job_saved_is_in_sight(browser: Any, page: Path) -> None:
    with Opened(browser, page, width=360, unfold=False) as opened:
        for name in ("time saved", "money saved"):
            heading = opened.page.get_by_role("columnheader", name=name, exact=True).first
            assert heading.evaluate("one => one.getBoundingClientRect().right") <= 360


@pytest.mark.parametrize(("jobs", "most"), [(1, 2), (4, 2)])
def test_what_is_not_unfolded_is_printed_on_two_pages(browser: Any, tmp_path: Path, jobs: int, most: int) -> None:
    several = [(Identity(f"data-{number}", "resnet18", "pytorch"), 30) for number in range(jobs)]
    with Opened(browser, written(tmp_path, *several), unfold=False) as opened:
        assert 1 <= printed(opened) <= most


def test_a_job_of_600_changes_is_printed_on_two_pages_and_what_is_left_out_is_said(browser: Any, tmp_path: Path) -> None:
    sizes = [64.0 * 2 ** (number % 3) for number in range(600)]
    with Opened(
        browser, written(tmp_path, (Identity("cifar10", "resnet18", "pytorch"), 600), sizes=sizes), unfold=False
    ) as opened:
        assert printed(opened) <= 2
        assert opened.rows("Suggestions") == 50
        opened.page.emulate_media(media="print")
        assert opened.rows("Suggestions") == 15
        said = opened.grid("Suggestions").get_by_role("status")
        assert said.evaluate("one => getComputedStyle(one, '::after').content") == '"1 to 15 of 600"'


def printed(opened: Opened) -> int:
    """The pages of paper that it takes."""
    return len(re.findall(rb"/Type\s*/Page\b", opened.page.pdf(prefer_css_page_size=True)))
