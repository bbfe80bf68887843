"""Small changes of a program that its tests should notice, found in its syntax tree.

What is no behaviour stays as it is: docstrings, annotations, messages, `__all__`, what only a type checker sees, and
arguments that are for readers of help and tracebacks.
"""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
SAME_AS_NEGATED = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)
FOR_READERS = {
    *("about", "compare", "encoding", "help", "hidden", "metavar", "newline", "param_hint", "prog_name"),
    *("repr", "shell_complete", "show_default", "stacklevel", "strict"),
}
"""Keyword arguments whose change no user would see."""
TYPING = {"Callable", "Literal", "dict", "frozenset", "list", "set", "tuple", "type"}
Groups = dict[str, str]
"""A string that is one choice of several, and another choice."""


class Change(NamedTuple):
    """A piece of the text to be replaced: the node's own, by `after`."""

    operator: str
    node: ast.stmt | ast.expr
    after: str
    scope: str
    """The function or class it stands in."""
    statement: tuple[int, int]
    """First and last line of the statement, or of the head of a compound one."""
    at_import: bool
    """Whether it runs when the module is imported, and not when a function is called."""


def changes(tree: ast.Module, groups: Groups) -> list[Change]:
    """All changes that can be made to a module."""
    finder = _Finder(groups)
    finder.visit(tree)
    return finder.found


def choices(tree: ast.Module) -> Groups:
    """For each string of a `Literal` the one that follows it there."""
    found: Groups = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Literal":
            listed = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            texts = [item.value for item in listed if isinstance(item, ast.Constant) and isinstance(item.value, str)]
            if len(texts) > 1:
                found |= dict(zip(texts, [*texts[1:], texts[0]], strict=True))
    return found


class _Finder(ast.NodeVisitor):
    """Walks a module, and knows where it is."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.found: list[Change] = []
        self._scope: list[str] = []
        self._functions = 0
        self._statement = (1, 1)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self._statement = (node.lineno, _end_of_head(node))
        super().visit(node)

    def visit_Module(self, node: ast.Module) -> None:
        self._visit_all(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scope.append(node.name)
        self._visit_all(node.body)
        self._scope.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._visit_all([*_decorators(node), *node.args.defaults, *filter(None, node.args.kw_defaults)])
        self._scope.append(node.name)
        self._functions += 1
        self._visit_all(node.body)
        self._functions -= 1
        self._scope.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            self._visit_all(node.orelse)
            return
        self._negate(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self._add("statement deleted", node, "pass")
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            return
        if any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self._add("statement deleted", node, "pass")
        self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add("statement deleted", node, "pass")
        if type(node.op) in ARITHMETIC and not _is_text(node.value):
            self._unparsed("arithmetic", node, op=ARITHMETIC[type(node.op)]())
        self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._add("raise deleted", node, "pass")

    def visit_Delete(self, node: ast.Delete) -> None:
        self._add("statement deleted", node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        self._add("break and continue", node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add("break and continue", node, "break")

    def visit_Assert(self, node: ast.Assert) -> None:
        """Says what is so anyway."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Mostly a message; and Python 3.11 does not know where its parts are."""

    def visit_Compare(self, node: ast.Compare) -> None:
        for i, op in enumerate(node.ops):
            others = [*node.ops[:i], COMPARISONS[type(op)](), *node.ops[i + 1 :]]
            self._unparsed("comparison", node, ops=others)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._unparsed("and and or", node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in ARITHMETIC and not (_is_text(node.left) or _is_text(node.right)):
            self._unparsed("arithmetic", node, op=ARITHMETIC[type(node.op)]())
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub):
            self._add("sign", node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.value, ast.Name) and node.value.id in TYPING:
            return
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            if isinstance(part, ast.Slice):
                self._change_bounds(part)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        for i, keyword in enumerate(node.keywords):
            if keyword.arg is not None and keyword.arg not in FOR_READERS:
                others = [*node.keywords[:i], *node.keywords[i + 1 :]]
                self._unparsed("argument dropped", node, keywords=others)
        self._visit_all([node.func, *node.args])
        self._visit_all([keyword.value for keyword in node.keywords if keyword.arg not in FOR_READERS])

    def visit_Constant(self, node: ast.Constant) -> None:
        match node.value:
            case bool():
                self._add("constant", node, str(not node.value))
            case int():
                self._add("constant", node, str(node.value + 1))
                self._add("constant", node, str(node.value - 1))
            case float():
                self._add("constant", node, repr(node.value + 1))
            case str() if node.value in self.groups:
                self._add("choice", node, repr(self.groups[node.value]))

    def _change_bounds(self, part: ast.Slice) -> None:
        for bound in (part.lower, part.upper):
            if bound is not None:
                text = ast.unparse(bound)
                self._add("bound of slice", bound, f"({text}) - 1")
                self._add("bound of slice", bound, f"({text}) + 1")
                self._add("bound of slice", bound, "None")

    def _negate(self, test: ast.expr) -> None:
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], SAME_AS_NEGATED):
            return
        inner = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else None
        self._add("negation", test, f"({ast.unparse(inner)})" if inner else f"(not ({ast.unparse(test)}))")

    def _unparsed(self, operator: str, node: ast.expr | ast.stmt, **fields: object) -> None:
        other = copy.copy(node)
        for name, value in fields.items():
            setattr(other, name, value)
        text = ast.unparse(other)
        self._add(operator, node, text if isinstance(node, ast.stmt | ast.Call) else f"({text})")

    def _add(self, operator: str, node: ast.expr | ast.stmt, after: str) -> None:
        at_import = self._functions == 0
        self.found.append(Change(operator, node, after, ".".join(self._scope), self._statement, at_import))

    def _visit_all(self, nodes: list[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)


def _end_of_head(node: ast.stmt) -> int:
    """The last line of a statement, without the statements in it."""
    inner = [child.lineno for child in _statements_in(node)]
    return max(node.lineno, min(inner) - 1) if inner else node.end_lineno or node.lineno


def _statements_in(node: ast.stmt) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.match_case | ast.ExceptHandler):
            yield from (inner for inner in child.body)


def _decorators(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """Those with arguments, such as options of a command."""
    return [decorator for decorator in node.decorator_list if isinstance(decorator, ast.Call)]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
