# SPDX-License-Identifier: Apache-2.0
"""The Python packages are layers without upward imports, and no two files import each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[2] / "python"
FILES = {
    ".".join(file.relative_to(PYTHON).with_suffix("").parts).removesuffix(".__init__"): file
    for file in PYTHON.rglob("*.py")
}

# Layer -> the layers that it may import, in addition to itself and the modules in SHARED.
LAYERS: dict[str, set[str]] = {
    "kernels": set(),
    "arrow": {"kernels"},
    "dataframe": set(),
    "temporal": {"dataframe"},
    "plot": {"arrow", "dataframe"},
    "cli": set(),
}
# Modules that every layer may import. They use neither NumPy, Arrow, numba, Spark nor a layer.
SHARED = {
    file.stem
    for pattern in ("[!_]*.py", "_[!_]*.py", "_sql")
    for file in (PYTHON / "intervalsweep").glob(pattern)
}


def imported(module: str, *, at_once: bool = False) -> set[str]:
    """The files that a file imports; with `at_once`, only imports outside of functions."""
    tree = ast.parse(FILES[module].read_text(encoding="utf-8"))
    package = module if FILES[module].name == "__init__.py" else module.rpartition(".")[0]
    found = set()
    for node in _statements(tree) if at_once else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            parts = parts[: len(parts) - node.level + 1] if node.level else []
            name = ".".join([*parts, *filter(None, [node.module])])
            found |= {f"{name}.{alias.name}" for alias in node.names} | {name}
    known = {name for name in found if name in FILES}
    # `from package import module` needs the module, but not the rest of the package.
    return {n for n in known if not any(other.startswith(f"{n}.") for other in known)} - {module}


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The statements that run at import, without those for type checkers only."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        waiting += ast.iter_child_nodes(node)


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "ever"])
def test_no_circle_of_files(at_once: bool) -> None:
    graph = {module: imported(module, at_once=at_once) for module in FILES}
    assert sum(map(len, graph.values())) > 100
    try:
        order = [*TopologicalSorter(graph).static_order()]
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
    assert order.index("intervalsweep._errors") < order.index("intervalsweep.session")


# One test checks all layers, because a quick run takes only some cases of parametrized tests.
def test_layers_point_one_way() -> None:
    for layer, below in LAYERS.items():
        modules = [name for name in FILES if name.split(".")[:2] == ["intervalsweep", layer]]
        assert modules, layer
        for module in modules:
            for other in imported(module):
                package, *rest = other.split(".")
                assert package == "intervalsweep", f"{module} imports {other}"
                assert not rest or rest[0] in {layer, *below, *SHARED}, f"{module} imports {other}"


def test_what_all_share_imports_none_of_the_folders() -> None:
    shared = [name for name in FILES if name.split(".")[1:2] and name.split(".")[1] in SHARED]
    assert len(shared) > len(SHARED)
    for name in shared:
        for other in imported(name):
            assert other.split(".")[1:2] != [] or other == "intervalsweep", other
            assert other.split(".")[1] in SHARED, f"{name} imports {other}"


def test_the_worker_of_spark_needs_the_kernels_alone() -> None:
    for module in FILES:
        if module.startswith("pyspark_intervalsweep"):
            of_ours = {n for n in imported(module) if n.startswith("intervalsweep")}
            assert all(n.startswith("intervalsweep.kernels") for n in of_ours), (module, of_ours)
