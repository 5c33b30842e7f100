# SPDX-License-Identifier: Apache-2.0
"""What MkDocs does not do by itself, for mkdocs.yml.

- Pages that live outside docs/ are pages of the site, without copies.
- A folder in the navigation stands for its pages, in the order of their names; one that is not
  there is left out.
- Links are those of the repository, so that they work there too. On the site, one to a file that is
  no page becomes its text.
"""

from __future__ import annotations

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
# What the README says, the site says on its first page; a folder is shown by its README.
INSTEAD = {"README.md": "index.md", "benchmarks": "benchmarks.md"}
PAGES = (".md", ".py")  # and notebooks, as programs
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
    sources = {page: source for source, page in OUTSIDE.items()}
    here = page.file.src_uri
    source = sources.get(here, posixpath.join(DOCS, here))
    return LINK.sub(lambda link: _link(link, here, source, files), markdown)


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
    return text if (ROOT / meant).exists() else link[0]  # a link to nothing fails the build


def _unfolded(nav: Any) -> Any:
    if isinstance(nav, list):
        return [item for item in map(_unfolded, nav) if item]
    if isinstance(nav, dict):
        return {title: below for title, item in nav.items() if (below := _unfolded(item))}
    return _pages(nav) if nav.endswith("/") else nav


def _pages(folder: str) -> list[str]:
    found = (ROOT / DOCS / folder).iterdir() if (ROOT / DOCS / folder).is_dir() else ()
    return sorted(p.relative_to(ROOT / DOCS).as_posix() for p in found if p.suffix in PAGES)
