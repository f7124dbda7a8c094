"""The documentation as a site: every link and anchor leads somewhere, it is whole by itself, each reason code has a page."""

from __future__ import annotations

import html
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from command_lines import leaves

import jpo
from jpo.commands.config import schema
from jpo.project.plugins.tables import settings_schema

ROOT = Path(__file__).parents[1]
CODES = re.findall(r"^\*\*(JPO-[EWI]\d{3})\*\*: ", (ROOT / "docs/codes.md").read_text("utf-8"), re.MULTILINE)


@pytest.fixture(scope="module")
def site(shared: Callable[[str, Callable[[], str]], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once for all workers: test_website_in_a_browser.py reads it, too."""
    return Path(shared("site", lambda: str(built(tmp_path_factory.mktemp("site")))))


def built(folder: Path) -> Path:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--config-file",
        "website/mkdocs.yml",
        "--site-dir",
        str(folder),
    ]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


class Loaded(HTMLParser):
    """What a browser loads for a page without being asked: scripts, styles, pictures, frames."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        if tag != "a" and named.get("rel") not in ("canonical", "prev", "next"):
            self.addresses += [address for name in ("src", "href", "data") if (address := named.get(name))]


@pytest.fixture(scope="module")
def places(site: Path) -> dict[Path, set[str]]:
    """Each page with its anchors."""
    return {page: set(re.findall(r"\sid=[\"']?([^\"'\s>]+)", page.read_text("utf-8"))) for page in site.rglob("*.html")}


def test_every_link_within_the_site_leads_to_a_file_and_to_an_anchor_of_it(site: Path, places: dict[Path, set[str]]) -> None:
    """MkDocs checks the links of Markdown; here are those of menus, made pages, and HTML too."""
    dead = []
    for page in places:
        for quoted in set(re.findall(r"\s(?:href|src)=[\"']?([^\"'\s>]+)", page.read_text("utf-8"))):
            address, _, anchor = html.unescape(unquote(quoted)).partition("#")
            to = (
                Path(os.path.normpath(site / address.lstrip("/") if address.startswith("/") else page.parent / address))
                if address
                else page
            )
            to = to / "index.html" if to.is_dir() else to
            if not re.match(r"\w+:|//", address) and not (to.is_file() and (not anchor or anchor in places.get(to, {anchor}))):
                dead.append(f"{page.relative_to(site)}: {quoted}")
    assert len(places) > len(CODES)
    assert dead == []


def test_nothing_comes_from_another_host(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(CODES)
    loaded = {address for page in pages for address in Loaded(page.read_text("utf-8")).addresses}
    assert [address for address in loaded if re.match(r"(?:\w+:)?//", address)] == []
    styles = "".join(style.read_text("utf-8") for style in site.rglob("*.css"))
    assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*|@import[^;]*", styles) == []


@pytest.mark.parametrize("code", CODES)
def test_each_reason_code_has_a_page_and_an_anchor(code: str, site: Path) -> None:
    page = (site / "codes" / f"{code}.html").read_text("utf-8")
    assert f'<h1 id="{code.lower()}">{code}' in page
    assert "<strong>Meaning:</strong>" in page
    assert f"id='{code.lower()}'" in (site / "codes.html").read_text("utf-8").replace('"', "'")


def test_a_code_in_a_page_leads_to_its_own(site: Path) -> None:
    assert '<a href="codes/JPO-W160.html">JPO-W160</a>' in (site / "config-ini.html").read_text("utf-8")
    assert 'href="../config-ini.html"' in (site / "codes" / "JPO-W160.html").read_text("utf-8")


def test_all_markdown_was_understood(site: Path) -> None:
    """Nothing that looks like Markdown is left outside of code: this dialect is not GitHub's."""
    left = re.compile(r"```|\*\*|\]\(|^\s*[-*] \S|^\s*\|.*\||^#+ ", re.MULTILINE)
    for page in sorted(site.rglob("*.html")):
        if article := re.search(r"<article.*?</article>", page.read_text("utf-8"), re.DOTALL):
            text = re.sub(r"<[^>]*>", "", re.sub(r"<(pre|code)\b.*?</\1>", "", article[0], flags=re.DOTALL))
            assert left.findall(text) == [], page.name


def test_the_page_of_the_api_has_every_public_name_with_its_docstring(site: Path) -> None:
    page = re.sub(r"<[^>]+>", "", (site / "api.html").read_text("utf-8"))
    shown = " ".join(html.unescape(page).split())
    public = {name: getattr(jpo, name) for name in jpo.__all__ if name != "__version__"}
    members = {f"Advisor.{name}": member for name, member in vars(jpo.Advisor).items() if not name.startswith("_")}
    assert {"Advisor.ask", "Advisor.tell", "Advisor.to_dataframe"} <= members.keys()
    for name, thing in {**public, **members}.items():
        assert name in shown
        assert " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].replace("`", "").split()) in shown, name
    assert "learning_rate" in shown
    assert "explore: Literal['off', 'safe', 'on'] = 'safe'," in shown


def text_of(page: Path) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8"))).split())


def test_the_page_of_commands_has_every_command_with_its_help(site: Path) -> None:
    shown = text_of(site / "commands.html")
    for name, command in leaves():
        assert f"Usage: jpo {name} " in shown, name
        assert " ".join(str(command.help).partition("\n\n")[0].split()) in shown, name


def test_the_page_of_settings_has_every_key_with_its_default(site: Path) -> None:
    page = (site / "settings.html").read_text("utf-8")
    for name, one in settings_schema()["$defs"].items():
        for key in one.get("properties", {}) if name.endswith("Table") else ():
            assert f"<td>{key}</td>" in page or f".{key}]" in text_of(site / "settings.html"), (name, key)
    assert re.search(
        r"<td>explore</td>\s*<td><code>\"off\"</code> or .*</td>\s*<td><code>\"safe\"</code></td>", html.unescape(page)
    )


@pytest.mark.parametrize("output", ["settings", "suggestion"])
def test_the_schemas_are_those_that_jpo_prints(output: str, site: Path) -> None:
    file = site / {"settings": "jpo.schema.json", "suggestion": "suggestion.schema.json"}[output]
    assert json.loads(file.read_text("utf-8")) == json.loads(schema(output))
