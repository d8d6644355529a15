"""The import graph of `sfumato`: its cycles, its upward imports, and a drawing of it for docs/architecture.md.

Grimp finds the imports, those inside functions and those for type checking included.
`python tests/import_graph.py` redraws the page.
"""

from __future__ import annotations

import re
import sys
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

import grimp
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

PAGE = Path(__file__).resolve().parents[1] / "docs" / "architecture.md"
NAME = "sfumato"
ROOT = "root modules"
FACE = {"claims", "commute", "local"}
"""Modules that only list public names, as the package itself does."""
ROOT_MODULES = {"files", "errors", "parameters", "version", "compiled", "notebook", "streams"}
LAYERS = [
    ROOT,
    "schema",
    "data",
    "privacy",
    "mechanisms",
    "estimation",
    "release",
    "methods",
    "measures",
    "publish",
    "audit",
    "trials",
    "report",
    "collect",
    "samples",
    "reproduce",
    "cli",
]
"""From the lowest to the highest; a package imports only from those before it."""
SAMPLES_MAY_IMPORT = {"samples", "schema", "data", ROOT}
DRAWING = re.compile(r"```mermaid\n.*?^```\n", re.DOTALL | re.MULTILINE)
TABLE = re.compile(r"^\| package \|.*?(?=^[^|]|\Z)", re.DOTALL | re.MULTILINE)


def build(package: str = NAME) -> grimp.ImportGraph:
    return grimp.build_graph(package, cache_dir=None, exclude_type_checking_imports=False)


def edges(graph: grimp.ImportGraph) -> list[tuple[str, str]]:
    """Every (importer, imported) pair of modules."""
    modules = sorted(graph.modules)
    return [(module, other) for module in modules for other in sorted(graph.find_modules_directly_imported_by(module))]


def place(graph: grimp.ImportGraph, importer: str, imported: str) -> str:
    """Where one module imports another, as `file:line: the statement`."""
    found = graph.get_import_details(importer=importer, imported=imported)[0]
    path = importer.replace(".", "/")
    path += "/__init__.py" if graph.find_children(importer) else ".py"
    return f"{path}:{found['line_number']}: {found['line_contents']}"


def tangles(pairs: set[tuple[str, str]]) -> list[set[str]]:
    """The strongly connected components of more than one node."""
    if not pairs:
        return []
    nodes = sorted({node for pair in pairs for node in pair})
    index = {node: number for number, node in enumerate(nodes)}
    rows, columns = (np.array([index[pair[side]] for pair in sorted(pairs)]) for side in (0, 1))
    matrix = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(len(nodes), len(nodes)))
    number, labels = connected_components(matrix, connection="strong")
    found = [{nodes[i] for i in np.flatnonzero(labels == label)} for label in range(number)]
    return [tangle for tangle in found if len(tangle) > 1]


def module_cycles(graph: grimp.ImportGraph) -> dict[frozenset[str], list[str]]:
    """Modules that import each other, with the statements of one cycle."""
    return {
        frozenset(tangle): [place(graph, *step) for step in shortest_cycle(graph, tangle)]
        for tangle in tangles(set(edges(graph)))
    }


def shortest_cycle(graph: grimp.ImportGraph, tangle: set[str]) -> list[tuple[str, str]]:
    """The steps of the shortest cycle through any import between the modules of a tangle."""
    chains = []
    for importer, imported in edges(graph):
        if {importer, imported} <= tangle:
            back = graph.find_shortest_chain(importer=imported, imported=importer)
            assert back, "in a strongly connected component there is a way back"
            chains.append([importer, *back])
    return list(pairwise(min(chains, key=len)))


def package_cycles(graph: grimp.ImportGraph) -> dict[frozenset[str], list[str]]:
    """Children of a package that import each other, each taken as a whole, with one statement per direction."""
    found = {}
    for parent in sorted(graph.modules):
        between: dict[tuple[str, str], tuple[str, str]] = {}
        for importer, imported in edges(graph):
            one, other = child_of(parent, importer), child_of(parent, imported)
            if one and other and one != other:
                between.setdefault((one, other), (importer, imported))
        for tangle in tangles(set(between)):
            steps = [pair for ends, pair in between.items() if set(ends) <= tangle]
            found[frozenset(tangle)] = [place(graph, *pair) for pair in steps]
    return found


def child_of(parent: str, module: str) -> str | None:
    """The child of a package that holds a module."""
    if not module.startswith(f"{parent}."):
        return None
    return f"{parent}.{module.removeprefix(f'{parent}.').split('.')[0]}"


def layer_of(module: str) -> str | None:
    """The layer of a module; `None` for other libraries and for the public face, which only lists names."""
    parts = module.split(".")
    if parts[0] != NAME or len(parts) < 2 or parts[1].startswith("__") or parts[1] in FACE:
        return None
    return ROOT if parts[1] in ROOT_MODULES else parts[1]


def fault(importer: str, imported: str) -> str | None:
    """Why one module should not import another, if it should not."""
    layer, reached = layer_of(importer), layer_of(imported)
    if layer is None:
        return None
    if reached is None:
        return "the public face is above everything" if imported.split(".")[0] == NAME else None
    if reached not in LAYERS:
        return f"{reached} is not a known layer"
    if LAYERS.index(reached) > LAYERS.index(layer):
        return f"{reached} is above {layer}"
    if layer == "samples" and reached not in SAMPLES_MAY_IMPORT:
        return f"samples may not use {reached}"
    return None


def upward_imports(graph: grimp.ImportGraph) -> list[str]:
    """The imports that go up the layers, each with file and line."""
    return [f"{place(graph, *pair)} ({why})" for pair in edges(graph) if (why := fault(*pair))]


def packages(graph: grimp.ImportGraph) -> dict[str, set[str]]:
    """For each package, the packages that it imports from."""
    found: dict[str, set[str]] = {layer: set() for layer in LAYERS}
    for importer, imported in edges(graph):
        one, other = layer_of(importer), layer_of(imported)
        if one and other and one != other:
            found[one].add(other)
    return found


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """The graph without the edges that longer ways imply."""
    below: dict[str, set[str]] = {}
    for node in TopologicalSorter(graph).static_order():
        below[node] = set().union(*({other} | below[other] for other in graph[node]))
    return {node: others - set().union(*(below[other] for other in others)) for node, others in graph.items()}


def mermaid(graph: dict[str, set[str]]) -> str:
    """The packages as a Mermaid diagram, arrows from importer to imported."""
    names = {layer: layer.replace(" ", "_") for layer in LAYERS}
    lines = [f"    {names[layer]}[{layer}]" for layer in reversed(LAYERS)]
    lines += [f"    {names[one]} --> {names[other]}" for one, others in graph.items() for other in sorted(others)]
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```"]) + "\n"


def table(graph: dict[str, set[str]]) -> str:
    """What each package imports from, as a Markdown table in the order of the layers."""
    rows = [f"| {layer} | {', '.join(sorted(graph[layer], key=LAYERS.index)) or 'none'} |" for layer in LAYERS]
    return "\n".join(["| package | imports from |", "|---|---|", *rows]) + "\n"


def redraw(page: str) -> str:
    """The page with diagram and table drawn anew from the code."""
    graph = packages(build())
    for pattern, text in ((DRAWING, mermaid(reduced(graph))), (TABLE, table(graph))):
        page, found = pattern.subn(lambda _, text=text: text, page)
        assert found == 1, "docs/architecture.md needs one diagram and one table of packages"
    return page


if __name__ == "__main__":
    PAGE.write_text(redraw(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name} is drawn anew.\n")
