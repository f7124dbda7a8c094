"""What the site has besides docs/: the README as its first page, a page per reason code, and the files that pages link to.

A hook of MkDocs. Nothing is written twice: codes/JPO-W121.html comes from its entry in docs/codes.md, and repository/... from the
files themselves. Links that leave docs/ lead to those copies, so that the site is whole wherever it lies.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")
ENTRY = re.compile(r"^\*\*(JPO-[EWI]\d{3})\*\*: (.+?)(?:\nWhat to do: (.+?))?(?=\n\n|\n*\Z)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<![\w/`.-])\[?(JPO-[EWI]\d{3})\]?(?![\w.`(\]])")
FENCE = re.compile(r"(^ *```.*?^ *```|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
KINDS = {"E": "An error: it ends the command.", "W": "A warning.", "I": "Information."}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The menu is the contents of docs/guide.md: its books, their bold lines, and below them the pages that they list."""
    guide = (ROOT / "docs/guide.md").read_text("utf-8")
    books = re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", guide, re.M | re.S)
    config.nav = [{"JPO": "index.md"}, {"Guide": "guide.md"}, *({name: menu(text)} for name, text in books)]
    return config


def menu(book: str) -> list[dict[str, object]]:
    """The sections of a book; of a book with one section its pages."""
    sections = [
        {name: [listed(*line) for line in re.findall(r"\[([^\]]*)\]\((\w[\w./-]*)\)", lines)]}
        for name, lines in re.findall(r"^\*\*(.*?)\*\*\n\n(.*?)(?=^\*\*|\Z)", book, re.M | re.S)
    ]
    return sections if len(sections) > 1 else next(iter(sections[0].values()))


def listed(name: str, to: str) -> dict[str, object]:
    return {name.replace("`", ""): page_of(resolved(to, "docs/guide.md"))}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is not in docs/: found from page to page, by the links that lead there."""
    for name, text in codes().items():
        files.append(File.generated(config, name, content=text))
    waiting = ["README.md", "SECURITY.md", "CHANGELOG.md", "website/style.css", "docs/decisions"]
    waiting += [to for page in sorted((ROOT / "docs").rglob("*.md")) for to in linked(relative(page))]
    for path in waiting:
        name = page_of(path)
        if files.get_file_from_path(name) is None:
            files.append(File.generated(config, name, content=content(path)))
            waiting += linked(path)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links out of docs/ lead to the copies; a reason code leads to its page, and in the list of codes has an anchor as well."""
    source = page.file.src_uri
    if source.startswith("codes/"):
        return markdown
    if source == "index.md":
        page.meta["hide"] = ["toc"]  # a screen of 120 columns needs the room
    copied = "README.md" if source == "index.md" else source.removeprefix("repository/")
    path = copied if copied != source else f"docs/{source}"
    markdown = outside_of_code(markdown, lambda text: LINK.sub(lambda link: f"]({place(link[1], path)}{link[2] or ''})", text))
    markdown = re.sub(r"^```(\w+) \w+$", r"```\1", markdown, flags=re.MULTILINE)  # ```python runlog: MkDocs knows one word
    if path == "docs/codes.md":
        return re.sub(r"^\*\*(JPO-[EWI]\d{3})\*\*:", anchored, markdown, flags=re.MULTILINE)
    known = {file.src_uri for file in files}
    to = posixpath.relpath("codes", posixpath.dirname(source) or ".")
    return outside_of_code(
        markdown,
        lambda text: CODE.sub(
            lambda code: f"[{code[1]}]({to}/{code[1]}.md)" if f"codes/{code[1]}.md" in known else code[0], text
        ),
    )


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A table that is wider than the screen can be scrolled with the keyboard."""
    return html.replace("<table>", '<div class="scrolled" tabindex="0"><table>').replace("</table>", "</table></div>")


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """The theme leaves the dialog of the search without a name for screen readers."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def anchored(code: re.Match[str]) -> str:
    """The beginning of an entry of docs/codes.md, as an anchor that leads to the code's own page."""
    return f"<a id='{code[1].lower()}'></a>**[{code[1]}](codes/{code[1]}.md)**:"


def codes() -> dict[str, str]:
    """A page per reason code: its entry of docs/codes.md, its section, and the pages that mention it."""
    docs = ROOT / "docs"
    texts = {
        page.relative_to(docs).as_posix(): page.read_text("utf-8")
        for page in sorted([*docs.glob("*.md"), *docs.glob("plugins/*.md")])
    }
    sections = re.split(r"^## (.*)\n", texts.pop("codes.md"), flags=re.MULTILINE)
    return {
        f"codes/{entry[1]}.md": code_page(
            entry, section, [f"- [{title(docs / name)}]({name})" for name, page in texts.items() if entry[1] in page]
        )
        for section, text in zip(sections[1::2], sections[2::2], strict=True)
        for entry in ENTRY.finditer(text)
    }


def code_page(entry: re.Match[str], section: str, mentions: list[str]) -> str:
    """The page of one reason code; its links begin one folder deeper than those of docs/codes.md."""
    code, meaning, remedy = entry.groups()
    parts = [f"# {code}", f"{KINDS[code[4]]} Section: {section}.", f"**Meaning:** {meaning}"]
    parts += [f"**What to do:** {remedy}"] if remedy else []
    parts += ["**More in**\n\n" + "\n".join(mentions)] if mentions else []
    text = LINK.sub(lambda link: f"](../{link[1]}{link[2] or ''})", "\n\n".join(parts))
    return f"{text}\n\n[All codes](../codes.md#{code.lower()})\n"


def content(path: str) -> str:
    """What a copy shows: Markdown as it is, another file as a block of code, a folder without README as its list."""
    file = ROOT / path
    if file.is_dir():
        names = sorted(one.name for one in file.iterdir() if one.is_file() and one.name != "index.md")
        return f"# {file.name}\n\n" + "".join(f"- [{title(file / name)}]({name})\n" for name in names)
    text = file.read_text("utf-8")
    kind = {".py": "python", ".sh": "bash", ".yaml": "yaml", ".yml": "yaml", ".sql": "sql"}.get(file.suffix, "text")
    return text if file.suffix in (".md", ".css") else f"# {path}\n\n````{kind}\n{text}\n````\n"


def linked(path: str) -> Iterator[str]:
    """Files and folders of the repository, outside of docs/, to which a page links."""
    file = ROOT / path
    if file.suffix == ".md":
        found = (resolved(link[1], path) for link in LINK.finditer(FENCE.sub("", file.read_text("utf-8"))))
        yield from (to for to in found if not (to.startswith("docs/") and to.endswith(".md")))
    elif file.is_dir() and not path.startswith("docs/"):
        yield from (f"{path}/{one.name}" for one in sorted(file.iterdir()) if one.is_file())


def resolved(target: str, path: str) -> str:
    """Where a relative link leads, from the repository's root; a folder with a README leads to that."""
    to = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return f"{to}/README.md" if (ROOT / to / "README.md").is_file() else to


def place(target: str, path: str) -> str:
    """The same link within the site."""
    return posixpath.relpath(page_of(resolved(target, path)), posixpath.dirname(page_of(path)) or ".")


def page_of(path: str) -> str:
    """The site's source of a file of the repository."""
    if path == "README.md":
        return "index.md"
    folder = "/index" if (ROOT / path).is_dir() else ""
    if path.startswith("docs/"):
        return f"{path.removeprefix('docs/')}{folder}{'.md' if folder else ''}"
    visible = path.replace("/.", "/")  # MkDocs leaves out what begins with a dot
    return f"repository/{visible}{folder}{'' if path.endswith(('.md', '.css')) else '.md'}"


def title(page: Path) -> str:
    first = page.read_text("utf-8").partition("\n")[0]
    return first.removeprefix("# ") if page.suffix == ".md" else page.name


def relative(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def outside_of_code(markdown: str, change: Callable[[str], str]) -> str:
    return "".join(part if part.startswith(("`", " `")) or "```" in part else change(part) for part in FENCE.split(markdown))
