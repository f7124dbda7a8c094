"""The site in Chromium, narrow and wide, light and dark: it fits, other hosts are not asked, axe has no complaint."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from test_website import site  # noqa: F401 - a fixture

playwright = pytest.importorskip("playwright.sync_api", reason="playwright not found: pip install playwright")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe not found: pip install axe-playwright-python")
PAGES = (
    "index",
    "start",
    "guide",
    "codes/JPO-W160",
    "hosts",
    "jpo-toml",
    "codes",
    "benchmarks",
    "benchmarks/nights",
    "commands",
    "settings",
)
LONG = ("codes", "benchmarks/nights", "commands", "settings")
"""Pages of which axe takes seconds."""
SECONDS = 240
"""A busy machine lays a page out late."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:  # noqa: F811
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[object]:
    with playwright.sync_playwright() as engine:
        started = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_ask_nobody_and_can_be_read(scheme: str, address: str, browser: object) -> None:
    with browser.new_context(color_scheme=scheme) as context:  # type: ignore[attr-defined]
        page, said, asked = context.new_page(), [], []
        page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
        page.on("request", lambda request: asked.append(request.url) if not request.url.startswith(address) else None)
        for name in PAGES:
            page.goto(f"{address}{name}.html")
            for width in (360, 1280):
                page.set_viewport_size({"width": width, "height": 800})
                page.wait_for_function(f"document.documentElement.scrollWidth <= {width}", timeout=SECONDS * 1000)
            if name not in LONG:
                page.wait_for_function(
                    "document.getAnimations().length == 0", timeout=SECONDS * 1000
                )  # colours that fade are no defect
                found = axe.Axe().run(page).response["violations"]
                serious = [
                    (one["id"], one["nodes"][0]["html"][:120]) for one in found if one["impact"] in ("serious", "critical")
                ]
                assert serious == [], name
        assert (said, asked) == ([], [])


def test_the_search_finds_a_reason_code(address: str, browser: object) -> None:
    with browser.new_context() as context:  # type: ignore[attr-defined]
        page = context.new_page()
        page.goto(f"{address}index.html")
        page.locator("input.md-search__input").press_sequentially(
            "JPO-W160"
        )  # it listens to keys: text that is filled in has none
        page.wait_for_selector("a.md-search-result__link[href*='JPO-W160']", timeout=SECONDS * 1000)
