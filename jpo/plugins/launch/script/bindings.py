"""Names that a script binds by itself: parameters that it sets to a value of its own, fields that become options or are read from
variables, and settings that it hands on as a whole."""

import ast
from collections.abc import Iterator, Mapping, Sequence

OTHERWISE = {"setattr", "globals", "locals", "vars", "exec", "eval", "__dict__", "__setattr__"}
"""Ways to bind names that no assignment shows."""
PARSER = "ConfigParser"


def own_values(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Names, in lower case, that are bound to nothing but values written in the code.

    None at all where names may be bound in ways that are not seen.
    """
    if any(name_of(node) in OTHERWISE for node in nodes if isinstance(node, ast.Name | ast.Attribute)):
        return frozenset()
    found, others = set[str](), set[str]()
    for node in nodes:
        for target, value in _bound(node):
            (found if _is_written(value) else others).add(name_of(target).lower())
    return frozenset(found - others - {""})


def field_options(nodes: Sequence[ast.AST], makers: set[str]) -> Iterator[tuple[str, str]]:
    """Options that functions (`makers`) make of names, `add_argument(f"--{name}")`: of fields of classes, and of tables that are
    gone through."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    made = [call.args[0] for call in calls if name_of(call.func) in makers and call.args]
    computed = [text for text in made if isinstance(text, ast.JoinedStr | ast.BinOp)]
    if not computed and not any(name_of(call.func) == "HfArgumentParser" for call in calls):
        return
    dashes = any(name_of(call.func) == "replace" for text in computed for call in ast.walk(text) if isinstance(call, ast.Call))
    bodies = [node.body for node in nodes if isinstance(node, ast.ClassDef)]
    fields = [name_of(field.target) for body in bodies for field in body if isinstance(field, ast.AnnAssign)]
    loops = [node for node in nodes if isinstance(node, ast.For) and any(part in computed for part in ast.walk(node))]
    tables = {name_of(target): value for node in nodes for target, value in _bound(node) if value is not None}
    for name in (*fields, *(name for loop in loops for name in _first_words(loop.iter, tables))):
        yield name.lower(), f"--{name.replace('_', '-') if dashes else name}"


def _first_words(table: ast.expr, tables: Mapping[str, ast.expr]) -> Iterator[str]:
    """Keys of a table that is written in the code, or the words with which its rows begin."""
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Attribute) and table.func.attr in ("items", "keys"):
        table = table.func.value
    table = tables.get(name_of(table), table)
    found = table.keys if isinstance(table, ast.Dict) else table.elts if isinstance(table, ast.List | ast.Tuple) else ()
    firsts = (each.elts[0] if isinstance(each, ast.List | ast.Tuple) and each.elts else each for each in found)
    yield from (text for first in firsts if (text := text_of(first)) is not None)


def field_variables(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Variables of the environment that fields of pydantic's BaseSettings are read from."""
    bound = [(name_of(target), value) for node in nodes for target, value in _bound(node)]
    bound += [(keyword.arg or "", keyword.value) for node in nodes if isinstance(node, ast.Call) for keyword in node.keywords]
    prefix = next((text for name, value in bound if name == "env_prefix" and (text := text_of(value)) is not None), "")
    for node in nodes:
        if isinstance(node, ast.ClassDef) and any(name_of(base) == "BaseSettings" for base in node.bases):
            fields = (name_of(field.target) for field in node.body if isinstance(field, ast.AnnAssign))
            yield from (f"{prefix}{name}".upper() for name in fields)


def hands_on_settings(nodes: Sequence[ast.AST]) -> bool:
    """Whether a ConfigParser is given to a function: what that reads may not be seen."""
    holders, makers = set[str](), set[str]()

    def is_parser(value: ast.expr | None) -> bool:
        if isinstance(value, ast.Call):
            return name_of(value.func).endswith(PARSER) or name_of(value.func) in makers
        return name_of(value) in holders

    for _ in range(2):  # then also what functions return
        holders |= {name_of(target) for node in nodes for target, value in _bound(node) if is_parser(value)} - {""}
        makers |= {
            function.name
            for function in nodes
            if isinstance(function, ast.FunctionDef)
            and any(isinstance(node, ast.Return) and is_parser(node.value) for node in ast.walk(function))
        }
    calls = (node for node in nodes if isinstance(node, ast.Call))
    return any(is_parser(given) for call in calls for given in (*call.args, *(keyword.value for keyword in call.keywords)))


def name_of(node: ast.AST | None) -> str:
    """The last part of a name: "get" of os.environ.get; "" for what is none."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def text_of(node: ast.AST | None) -> str | None:
    """A text that is written in the code; None for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _bound(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What is bound to a name here; None: nothing that is written in the code."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _unpacked(target, node.value)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.AugAssign | ast.For | ast.AsyncFor | ast.comprehension):
        yield from _unpacked(node.target, None)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from _unpacked(node.optional_vars, None)


def _unpacked(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if not isinstance(target, ast.Tuple | ast.List):
        yield target, value
        return
    values = value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts) else None
    for number, each in enumerate(target.elts):
        yield from _unpacked(each, values[number] if values else None)


def _is_written(value: ast.expr | None) -> bool:
    value = value.operand if isinstance(value, ast.UnaryOp) else value
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float | str)
