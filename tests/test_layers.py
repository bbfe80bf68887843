"""Imports point downwards only: a package may import those of lower layers, and its own layer's where that is said."""

import ast
import re
from pathlib import Path

import pytest

import bilex

SOURCE = Path(bilex.__file__).parent

LAYERS = [
    {"errors"},
    {"storage", "text", "page"},
    {"linalg", "settings"},
    {"normalize"},
    {"search", "mapping", "entry"},
    {"io", "training", "candidates", "coverage"},
    {"table", "lexicon"},
    {"retrieval", "data"},
    {"induction", "parallel"},
    {"evaluation"},
    {"methods", "sample", "rerank"},
    {"run", "alignment", "frames"},
    {"fitting"},
    {"aligner"},
    {"bench", "tune", "explorer", "report"},
    {"cli"},
    {"__main__"},
]
"""From the lowest to the highest. Packages of one layer may import each other."""
LEVELS = {name: level for level, layer in enumerate(LAYERS) for name in layer}
EXCUSED = {
    ("io", "table"): "what is taken in memory may be a table already",
    ("io", "lexicon"): "the same of a dictionary",
    ("candidates", "table"): "a table looks up its own words there",
    ("coverage", "lexicon"): "a lexicon finds its own pairs there",
}
"""Imports for type checkers only that point upwards: what a lower layer hands back or is handed."""


def part(module: str) -> str:
    """The package or module of the root that a module belongs to."""
    return module.split(".")[1] if "." in module else module


def imports(path: Path):
    """Modules of bilex that a file imports, and whether only type checkers see it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"bilex.{alias.name}" for alias in node.names] if node.module == "bilex" else [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("bilex.") and part(name) in LEVELS:
                yield part(name), id(node) in typing


def upward():
    """Imports that point upwards: (from, to, whether only for type checkers)."""
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE)
        own = place.parts[0].removesuffix(".py")
        if own == "__init__":  # the names that users import, each at first use
            continue
        for other, typing in imports(path):
            if LEVELS[other] > LEVELS[own]:
                yield own, other, typing, place.as_posix()


def test_every_package_has_a_layer():
    found = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert found - {"__pycache__", "__init__", "py.typed"} == set(LEVELS)


def test_imports_point_downwards():
    assert {(own, other, place) for own, other, typing, place in upward() if not typing} == set()


@pytest.mark.parametrize("package", ["search", "methods/rapo", "rerank"])
def test_a_package_that_explains_its_files_names_all_of_them(package):
    files = {path.name for path in (SOURCE / package).glob("*.py")} - {"__init__.py"}
    text = (SOURCE / package / "__init__.py").read_text(encoding="utf-8")
    assert {name for name in files if name not in text} == set()


def test_the_mean_r_of_csls_has_one_definition():
    """All else calls `local_mean`, or `nearest_mean`, which searches the neighbours first."""
    means = re.compile(r"values.*\.mean\((?:1|-1|dim)|largest.*\.mean\(")
    found = [path for path in SOURCE.rglob("*.py") if means.search(path.read_text(encoding="utf-8"))]
    assert [path.relative_to(SOURCE).as_posix() for path in found] == ["retrieval/csls.py"]


def test_imports_for_types_point_downwards_or_are_excused():
    assert {(own, other) for own, other, typing, _ in upward() if typing} == set(EXCUSED)
