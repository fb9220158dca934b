"""Mutants: small faults that may stand in the source, and probes that note where one would be executed."""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from equivalent import EQUIVALENT

CHECKOUT = Path(__file__).parents[1]
PACKAGE = "gitleaks_eval"
# It stands in a probed file by itself: what runs under test import is theirs. A limit of a test is no reason to fail.
_NOTE = """
def _executed(names, _noted=set()):
    for name in names - _noted:
        _noted.add(name)
        try:
            open({folder!r} + "/" + name, "a").close()
        except OSError:
            pass
"""
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True)
class Mutant:
    """A fault in a source file: the `index`-th of it, the line, its text, what stands there and what it becomes."""

    path: Path
    index: int
    line: int
    text: str
    before: str
    after: str
    # Of those in the file that read alike.
    number: int
    is_in_function: bool

    def __str__(self) -> str:
        """For people, in a line."""
        return f"{self.path.relative_to('src', PACKAGE)}:{self.line}  {self.before}  ->  {self.after}"

    @property
    def equivalent(self) -> str | None:
        """Why nobody can notice it, where that is known."""
        return EQUIVALENT.get((self.path.name, self.text, self.after))

    @property
    def name(self) -> str:
        """What it is called while its file, its line and what it makes of it stay the same."""
        told = (self.path.as_posix(), self.text, self.before, self.after, self.number)
        return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def sampled(mutants: Iterable[Mutant], number: int, seed: int) -> list[Mutant]:
    """So many mutants; where the source changes, only those in changed lines go and come."""

    def drawn(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed}:{mutant.name}".encode()).digest()

    return sorted(sorted(mutants, key=drawn)[:number], key=lambda one: (one.path, one.index))


@dataclass(frozen=True)
class Place:
    """Where a node stands in a tree: a field of its parent, or an entry of it."""

    parent: ast.AST
    name: str
    index: int | None

    def put(self, node: ast.AST) -> None:
        """Let this node stand here."""
        if self.index is None:
            setattr(self.parent, self.name, node)
        else:
            getattr(self.parent, self.name)[self.index] = node


def _places(parent: ast.AST) -> Iterator[tuple[Place, ast.AST]]:
    """Each node below that does something; types, decorators and assertions say something."""
    for name, value in ast.iter_fields(parent):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.AST) and not isinstance(node, ast.Assert) and not _is_for_tools(node):
                yield Place(parent, name, index), node
                yield from _places(node)


def _is_for_tools(node: ast.AST) -> bool:
    """Whether this is for type checkers, or for a module that is run."""
    names = {one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)} if isinstance(node, ast.If) else set()
    return bool(names & {"TYPE_CHECKING", "__name__"})


def _faults(tree: ast.Module) -> list[tuple[Place, ast.AST, ast.AST]]:
    """Each place that may be faulty, with what stands there and what may stand there instead."""
    return [(place, node, fault) for place, node in _places(tree) for fault in _faulty(place, node)]


def _faulty(place: Place, node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[op, *others]):
            yield ast.Compare(node.left, [_FLIPPED[type(op)](), *others], node.comparators)
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int(number)):
            yield ast.Constant(number + 1)
        case ast.expr() if place.name in {"test", "ifs"}:
            yield ast.UnaryOp(ast.Not(), node)
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield ast.Return(ast.Constant(None))


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All mutants of a file, which is named from the checkout on."""
    source = (CHECKOUT / path).read_text(encoding="utf-8")
    tree = ast.parse(source)
    lines, alike, statements = source.splitlines(), Counter[tuple[str, ...]](), _statements(tree)
    for index, (_, node, fault) in enumerate(_faults(tree)):
        line = getattr(node, "lineno", 1)
        told = lines[line - 1].strip(), _text(node), _text(fault)
        alike[told] += 1
        yield Mutant(path, index, line, *told, alike[told], id(node) in statements)


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:100]


def mutated(source: bytes, index: int) -> str:
    """A source with one of its faults."""
    tree = ast.parse(source)
    place, _, fault = _faults(tree)[index]
    place.put(fault)
    return ast.unparse(tree) + "\n"


# --- probes


def probed(source: bytes, names: Mapping[int, str], folder: Path) -> str:
    """A source that leaves a file of that name in a folder before it executes the statement of such a fault."""
    tree = ast.parse(source)
    statements = _statements(tree)
    before: dict[int, set[str]] = {}
    for index, (_, node, _) in enumerate(_faults(tree)):
        if index in names and id(node) in statements:
            before.setdefault(id(statements[id(node)]), set()).add(names[index])
    for parent in list(ast.walk(tree)):
        for name, value in ast.iter_fields(parent):
            if isinstance(value, list):
                setattr(parent, name, [one for node in value for one in (*_probe(before.get(id(node))), node)])
    first = sum(_must_come_first(node) for node in tree.body)
    tree.body[first:first] = ast.parse(_NOTE.format(folder=str(folder))).body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _probe(names: set[str] | None) -> list[ast.stmt]:
    return ast.parse(f"_executed({names!r})").body if names else []


def _must_come_first(node: ast.stmt) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _statements(tree: ast.Module) -> dict[int, ast.stmt]:
    """By the id of a node, the innermost statement in a function that holds it; what an import executes has none."""
    found: dict[int, ast.stmt] = {}

    def walk(parent: ast.AST, statement: ast.stmt | None, *, is_in_function: bool) -> None:
        for name, value in ast.iter_fields(parent):
            is_body = isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and name == "body"
            for node in value if isinstance(value, list) else [value]:
                if isinstance(node, ast.AST):
                    own = node if isinstance(node, ast.stmt) else statement
                    inside = is_in_function or is_body
                    if inside and own:
                        found[id(node)] = own
                    walk(node, own, is_in_function=inside)

    walk(tree, None, is_in_function=False)
    return found
