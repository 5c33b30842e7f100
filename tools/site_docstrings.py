# SPDX-License-Identifier: Apache-2.0
"""Prepares docstrings for the API pages of the site; mkdocs.yml names this Griffe extension.

Griffe reads the sources without running them. This extension changes the docstrings as follows:

- A function whose decorator sets the signature and the docstring gets those that it has at run
  time, as do the functions of `intervalsweep.functions`, which its stub declares. The sections come
  in the order of numpydoc.
- A type alias in a signature is replaced by the type.
- Programs with the prompt `>>>` are in a section Examples, and the marks for blank lines are gone.
- References such as :func:`join` become links, or code if the API pages do not have the object.
"""

from __future__ import annotations

import inspect
import re
from functools import reduce
from importlib import import_module
from typing import Any

import griffe

# Decorators of functions with another signature at run time than in the sources.
DECORATORS = re.compile(r"(implements|has_signature_of)\(")
# The module whose signatures other modules implement.
DECLARED = "intervalsweep._signatures"
ORDER = ["Parameters", "Common arguments", "Returns", "Raises", "See Also", "Notes", "Examples"]
HEADING = re.compile(r"^(\S[^\n]*)\n-{3,}\n", re.MULTILINE)
# A section has indented lines and the names before them. Other text follows a blank line.
AFTER_SECTION = re.compile(r"\n\n(?=\S[^\n]*(?:\n(?! )|\Z))")
# An argument, or several, with an indented text.
ARGUMENTS = re.compile(r"^(\w[\w, ]*)\n((?: {4}[^\n]*\n?)+)", re.MULTILINE)
LONGEST_TYPE = 100  # characters; the name of a longer type stays
PROMPT = re.compile(r"^>>> ", re.MULTILINE)
ROLE = re.compile(r":(?:func|meth|class|attr|mod|exc|data):`~?([\w.]+)`")


class Docstrings(griffe.Extension):
    """The changes, for each object of a package."""

    def on_module_members(self, *, mod: griffe.Module, **_: Any) -> None:
        """Add the functions of a stub that has only their overloads."""
        for name, overloads in list(mod.overloads.items()):
            if overloads and name not in mod.members:
                function = griffe.Function(name, docstring=overloads[0].docstring)
                function.overloads = mod.overloads.pop(name)
                mod.set_member(name, function)

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        self._change(pkg, loader.modules_collection)
        self._replace_modules(pkg)

    def _replace_modules(self, of: griffe.Module) -> None:
        """Put a function in the place of the module from which its package imports it.

        Griffe keeps the module if both have the same name, such as `dataframe.nearest`.
        """
        for name, module in list(of.modules.items()):
            if module.is_alias:
                continue
            self._replace_modules(module)
            if name in (of.exports or ()) and name in module.members:
                of.del_member(name)
                of.set_member(name, module.members[name])

    def _change(self, of: Any, known: griffe.ModulesCollection) -> None:
        if of.is_function and is_made_at_run_time(of):
            read_at_run_time(of)
        if of.docstring:
            text = with_examples(of.docstring.value).replace("<BLANKLINE>", "")
            of.docstring.value = ROLE.sub(lambda role: _reference(role[1], of, known), text)
        if of.is_function:
            for each in (of, *(of.overloads or ())):
                for parameter in each.parameters:
                    parameter.annotation = _without_aliases(parameter.annotation, of, known)
        for member in of.members.values():
            if not member.is_alias:
                self._change(member, known)


def is_made_at_run_time(of: griffe.Function) -> bool:
    """Whether a function has another signature or docstring than in the sources."""
    return bool(of.overloads) or any(DECORATORS.match(str(each.value)) for each in of.decorators)


def read_at_run_time(of: griffe.Function) -> None:
    """Replace the signature and the docstring of a function by those that it has when it runs."""
    module = of.module.path
    names = of.path.removeprefix(f"{module}.").split(".")
    function = reduce(getattr, names, import_module(module))
    signature = inspect.signature(function)
    of.parameters = griffe.Parameters(*map(_parameter, signature.parameters.values()))
    of.returns = str(signature.return_annotation)
    if of.docstring:
        of.docstring.value = ordered(inspect.getdoc(function) or "")


def _parameter(of: inspect.Parameter) -> griffe.Parameter:
    return griffe.Parameter(
        of.name,
        annotation=None if of.annotation is of.empty else str(of.annotation),
        kind=griffe.ParameterKind(of.kind.description),
        default=None if of.default is of.empty else repr(of.default),
    )


def ordered(docstring: str) -> str:
    """Return a docstring with its text before its sections, and these in the order of numpydoc."""
    text, *rest = HEADING.split(docstring)
    texts, sections = [text], {}
    for title, content in zip(rest[::2], rest[1::2], strict=True):
        if title not in ORDER:
            raise ValueError(f"a docstring has the unknown section {title}")
        after = [] if title == "Examples" else AFTER_SECTION.split(content, maxsplit=1)
        sections[title] = (after or [content])[0].strip("\n")
        texts += after[1:]
    text = "\n\n".join(filter(None, map(str.strip, texts)))
    if program := PROMPT.search(text):
        sections["Examples"] = text[program.start() :] + sections.get("Examples", "")
        text = text[: program.start()].rstrip()
    if "Common arguments" in sections:
        sections["Common arguments"] = ARGUMENTS.sub(_item, sections["Common arguments"])
    if "Returns" in sections:  # the first line is a type, thus code
        kind, *lines = sections["Returns"].split("\n")
        sections["Returns"] = "\n".join([kind.replace("`", ""), *lines])
    titles = [title for title in ORDER if title in sections]
    return "\n\n".join([text, *(f"{t}\n{'-' * len(t)}\n{sections[t]}" for t in titles)])


def _item(argument: re.Match[str]) -> str:
    names = ", ".join(f"`{name}`" for name in argument[1].split(", "))
    return f"- {names}: {' '.join(argument[2].split())}\n"


def with_examples(docstring: str) -> str:
    """Return a docstring whose first program is in a section Examples."""
    program = PROMPT.search(docstring)
    if not program or "Examples\n---" in docstring:
        return docstring
    before, after = docstring[: program.start()].rstrip(), docstring[program.start() :]
    return f"{before}\n\nExamples\n--------\n{after}"


def _without_aliases(annotation: Any, of: griffe.Function, known: griffe.ModulesCollection) -> Any:
    """Return an annotation with the types for which aliases stand."""

    def meaning(name: re.Match[str]) -> str:
        alias = _resolved(name[0], of.module, known) or _resolved(name[0], known[DECLARED], known)
        if alias is None:
            return name[0]
        is_type = alias.is_attribute and str(alias.annotation) == "TypeAlias"
        value = str(alias.value).strip("'\"") if is_type else name[0]
        return value if len(value) <= LONGEST_TYPE else name[0]

    # Text in quotes is the value of a Literal.
    parts = re.split(r"('[^']*')", str(annotation))
    parts[::2] = [re.sub(r"[A-Z]\w*", meaning, part) for part in parts[::2]]
    found = "".join(parts)
    return annotation if annotation is None or found == str(annotation) else found


def _resolved(name: str, module: griffe.Module, known: griffe.ModulesCollection) -> Any:
    """Return what a name stands for in a module; None if that is unknown."""
    try:
        found = known[module.resolve(name)]
        while found.is_alias:
            found = found.target
    except (KeyError, griffe.GriffeError):
        return None
    return found


def _reference(name: str, of: Any, known: griffe.ModulesCollection) -> str:
    """Return a link to an object of the same class or module, or of another public module."""
    parent = of if of.is_module or of.is_class else of.parent
    while parent is not None:
        path = f"{parent.path}.{name}"
        if _is_public(path, known):
            return f"[`{name}`][{path}]"
        parent = parent.parent
    return f"[`{name}`][{name}]" if _is_public(name, known) else f"`{name}`"


def _is_public(path: str, known: griffe.ModulesCollection) -> bool:
    module, _, name = path.rpartition(".")
    try:
        found = known[path]
        return bool(found.is_module or not known[module].exports or name in known[module].exports)
    except (KeyError, griffe.GriffeError):
        return False
