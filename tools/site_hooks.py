# SPDX-License-Identifier: Apache-2.0
"""Hooks that extend MkDocs; mkdocs.yml names this file.

- Pages outside docs/ become pages of the site, without copies in docs/.
- A folder in the navigation stands for its pages, sorted by name. A folder that does not exist is
  left out.
- The output of notebooks does not show what their programs and Spark write to stderr.
- Pages use links that work in the repository, and these hooks translate the links for the site. A
  link to a file that is not a page of the site is replaced by its text.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
DOCS = "docs"
OUTSIDE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
}
# Pages that replace other link targets: index.md for the README, and a page for a folder.
INSTEAD = {"README.md": "index.md", "benchmarks": "benchmarks.md"}
PAGES = (".md", ".py")  # notebooks are stored as Python programs
# The search lists these pages first if they contain the word.
FIRST = {"relations.md", "sql-functions.md", "glossary.md"}
# One output of a cell, as mkdocs-jupyter writes it.
STDERR = "application/vnd.jupyter.stderr"
OUTPUT = re.compile(
    r'<div class="jp-OutputArea-child">\s*<div class="jp-OutputPrompt[^"]*"></div>\s*'
    rf'<div [^>]*data-mime-type="{STDERR}"[^>]*>\s*<pre>.*?</pre>\s*</div>\s*</div>',
    re.DOTALL,
)
LOG = logging.getLogger("mkdocs.hooks.site")  # a warning makes the build fail
LINK = re.compile(r"\[([^][]*)\]\(([^)\s]+)\)")


def on_config(config: Any) -> Any:
    config.nav = _unfolded(config.nav)
    return config


def on_files(files: Files, config: Any) -> Files:
    for source, page in OUTSIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    if page.file.src_uri in FIRST:
        page.meta.setdefault("search", {"boost": 4})
    sources = {page: source for source, page in OUTSIDE.items()}
    here = page.file.src_uri
    source = sources.get(here, posixpath.join(DOCS, here))
    return LINK.sub(lambda link: _link(link, here, source, files), markdown)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    if not page.file.src_uri.endswith(".py"):
        return html
    html = OUTPUT.sub("", html)
    if re.search(rf"<div [^>]*{STDERR}", html):
        LOG.warning("%s shows what a program wrote to stderr", page.file.src_uri)
    return html


def _link(link: re.Match[str], here: str, source: str, files: Files) -> str:
    text, target = link.groups()
    path, hash_, anchor = target.partition("#")
    if not path or ":" in path:
        return link[0]
    meant = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    inside = posixpath.relpath(meant, DOCS)
    page = OUTSIDE.get(meant) or INSTEAD.get(meant) or inside
    if files.get_file_from_path(page):
        return f"[{text}]({posixpath.relpath(page, posixpath.dirname(here))}{hash_}{anchor})"
    if not inside.startswith("..") and (pages := _pages(inside)):
        return f"[{text}]({posixpath.relpath(pages[0], posixpath.dirname(here))})"
    return text if (ROOT / meant).exists() else link[0]  # MkDocs fails for a broken link


def _unfolded(nav: Any) -> Any:
    if isinstance(nav, list):
        return [item for item in map(_unfolded, nav) if item]
    if isinstance(nav, dict):
        return {title: below for title, item in nav.items() if (below := _unfolded(item))}
    return _pages(nav) if nav.endswith("/") else nav


def _pages(folder: str) -> list[str]:
    found = (ROOT / DOCS / folder).iterdir() if (ROOT / DOCS / folder).is_dir() else ()
    return sorted(p.relative_to(ROOT / DOCS).as_posix() for p in found if p.suffix in PAGES)
