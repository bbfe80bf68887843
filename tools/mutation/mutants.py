"""Mutants: a program with one small change each, and a sample of them that stays the same as long as the code does."""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from mutation.operators import Change, Groups, changes, choices

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    key: str
    """Depends on the change, the function and the text of the statement, and not on line numbers."""
    file: str
    line: int
    scope: str
    operator: str
    statement: tuple[int, int]
    at_import: bool
    text: str
    """The whole file as it is after the change."""
    diff: str


def sample(root: Path, files: Iterable[Path], *, count: int, rng_seed: int) -> list[Mutant]:
    """So many mutants, at most one of a line; every line that can be changed is as likely as any other.

    They are ordered by a hash of the seed and what they change: code that comes or goes elsewhere moves none of them.
    """
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(files)}
    trees = {path: ast.parse(text) for path, text in sources.items()}
    groups: Groups = {}
    for tree in trees.values():
        groups |= choices(tree)
    chosen: list[tuple[str, Path, Change, str]] = []
    for path, tree in trees.items():
        lines: dict[int, list[tuple[str, Path, Change, str]]] = {}
        for change, key in _keyed(path.relative_to(root).as_posix(), sources[path], changes(tree, groups)):
            lines.setdefault(change.node.lineno, []).append((_hash(rng_seed, key), path, change, key))
        chosen += [min(found, key=lambda one: one[0]) for found in lines.values()]
    chosen.sort(key=lambda one: (_hash(rng_seed, "line", one[3]), one[3]))
    return [_made(root, path, sources[path], change, key) for _, path, change, key in chosen[:count]]


def _keyed(file: str, source: str, found: Sequence[Change]) -> list[tuple[Change, str]]:
    lines, before = source.split("\n"), Counter[str]()
    keyed = []
    for change in found:
        statement = "\n".join(line.strip() for line in lines[change.statement[0] - 1 : change.statement[1]])
        key = _hash(file, change.scope, change.operator, statement, ast.unparse(change.node), change.after)[:10]
        before[key] += 1
        keyed.append((change, f"{key}-{before[key]}"))
    return keyed


def _made(root: Path, path: Path, source: str, change: Change, key: str) -> Mutant:
    text = replaced(source, change.node, change.after)
    file = path.relative_to(root).as_posix()
    compile(text, file, "exec")
    return Mutant(
        key=key,
        file=file,
        line=change.node.lineno,
        scope=change.scope,
        operator=change.operator,
        statement=change.statement,
        at_import=change.at_import,
        text=text,
        diff="\n".join(_diff(source, text)),
    )


def replaced(source: str, node: ast.expr | ast.stmt, after: str) -> str:
    """The source with another text where the node is. Columns of a syntax tree count bytes."""
    assert node.end_lineno is not None
    lines = source.encode().split(b"\n")
    head = [*lines[: node.lineno - 1], lines[node.lineno - 1][: node.col_offset]]
    tail = [lines[node.end_lineno - 1][node.end_col_offset :], *lines[node.end_lineno :]]
    return (b"\n".join(head) + after.encode() + b"\n".join(tail)).decode()


def _diff(before: str, after: str) -> list[str]:
    lines = list(difflib.unified_diff(before.split("\n"), after.split("\n"), n=1, lineterm=""))[2:]
    return [line for line in lines if not line.startswith("@@")]


def _hash(*parts: object) -> str:
    return sha256("\0".join(map(str, parts)).encode()).hexdigest()
