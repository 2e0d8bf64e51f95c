"""Rules of the code that no linter knows: errors are told apart by types and codes, and objects by their public attributes."""

import ast
from pathlib import Path

import pytest
from parsed import parsed

ROOT = Path(__file__).parent.parent
FILES = {
    path.relative_to(ROOT).as_posix(): parsed(path.read_text(encoding="utf-8"))
    for floor in ("surrogates", "solvers", "spotsvm", "studies")
    for path in (ROOT / floor).rglob("*.py")
}

#: functions that make text of an error, its attributes with text, and what asks a text
TEXTS, WORDS = {"str", "repr", "one_line", "printable_line", "reason_of"}, {"args", "strerror", "msg", "message"}
ASKS = {"startswith", "endswith", "find", "index", "match", "fullmatch", "search", "findall", "count"}


def decisions_by_text(tree):
    """Return the comparisons and searches of the text of an error, as code."""
    found = []
    for function in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]:
        nodes = list(ast.walk(function))
        errors = {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
        arguments = [*function.args.args, *function.args.kwonlyargs] if isinstance(function, ast.FunctionDef) else []
        errors |= {a.arg for a in arguments if a.annotation and {"Error", "Exception"} & set(_ends(ast.unparse(a.annotation)))}
        texts = set()

        def is_text(node, errors=errors, texts=texts):
            inside = list(ast.walk(node))
            return any(
                (isinstance(n, ast.Call) and getattr(n.func, "id", "") in TEXTS and any(_name(m) in errors for m in ast.walk(n)))
                or (isinstance(n, ast.Attribute) and n.attr in WORDS and _name(n.value) in errors)
                or _name(n) in texts
                for n in inside
            )

        for node in sorted((n for n in nodes if isinstance(n, ast.Assign)), key=lambda n: n.lineno):
            texts |= {target.id for target in node.targets if isinstance(target, ast.Name) and is_text(node.value)}
        for node in nodes:
            compared = isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.Is | ast.IsNot)
            asked = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKS
            if (compared and is_text(node)) or (asked and (is_text(node.func.value) or any(map(is_text, node.args)))):
                found.append(ast.unparse(node))
    return list(dict.fromkeys(found))


def _name(node):
    return node.id if isinstance(node, ast.Name) else None


def _ends(annotation):
    """Return "Error" or "Exception" for each type of an annotation that ends so."""
    return [end for part in annotation.replace("|", " ").split() for end in ("Error", "Exception") if part.endswith(end)]


def test_no_decision_reads_the_text_of_an_error():
    assert {path: found for path, tree in FILES.items() if (found := decisions_by_text(tree))} == {}


@pytest.mark.parametrize(
    "code",
    [
        "try: f()\nexcept ValueError as error:\n    if 'failed' in str(error): pass",
        "try: f()\nexcept E as e:\n    why = ' '.join(str(e).split())\n    other = why[:9]\n    x = other == 'no file'",
        "def f(error: OSError):\n    return error.args[0].startswith('no')",
        "def f(failure: Exception | None):\n    return re.match('a.*', repr(failure))",
    ],
)
def test_a_decision_by_text_is_found(code):
    assert len(decisions_by_text(ast.parse(code))) == 1


def test_a_text_that_is_shown_alone_is_no_decision():
    code = "try: f()\nexcept OSError as error:\n    if error.errno == 2: raise E(f'no file: {error.strerror or str(error)}')"
    assert decisions_by_text(ast.parse(code)) == []


#: the one file for scikit-learn's private names
COMPAT = "spotsvm/common/compat.py"
#: private names of other packages' objects, and the files that say why they need them
FOREIGN = {
    "surrogates/compiled.py": {"_cache"},  # numba's cache of compiled functions
    "spotsvm/study/workers/on_dask.py": {"_config"},  # of multiprocessing, by which a daemon may have processes of its own
    "spotsvm/study/workers/process.py": {"_call_queue", "_processes", "_reader", "_thread"},  # loky's pool
    "studies/peers/coco.py": {"_best_parameter"},  # of COCO: its only way to the optimum of a function of a suite
}  # fmt: skip
#: documented names of the standard library that begin with an underscore
DOCUMENTED = {"_replace", "_asdict", "_fields", "_make", "_exit"}


def private_attributes(tree, defined=frozenset()):
    """Return the private attributes of other objects that code reads or writes outside of the class that defines them."""
    found = set()
    for node in ast.iter_child_nodes(tree):
        known = defined
        if isinstance(node, ast.ClassDef):
            known = _defined(node)
        elif isinstance(node, ast.Attribute) and not _is_own(node.value):
            found.add(node.attr)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "setattr", "hasattr"):
            name = node.args[1]
            found |= {name.value} if isinstance(name, ast.Constant) and not _is_own(node.args[0]) else set()
        found |= private_attributes(node, known)
    return {name for name in found - defined - DOCUMENTED if name.startswith("_") and not name.endswith("__")}


def _defined(kind):
    """Return the names of what a class defines: its methods and attributes, and those of its objects."""
    nodes = list(ast.walk(kind))
    found = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    found |= {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) and _is_own(n.value)}
    assigned = [n for n in kind.body if isinstance(n, ast.Assign | ast.AnnAssign)]
    return found | {m.id for n in assigned for m in ast.walk(n) if isinstance(m, ast.Name) and isinstance(m.ctx, ast.Store)}


def _is_own(node):
    """Return whether an expression is the object itself, its class, or the object as its base class."""
    return _name(node) in ("self", "cls") or (isinstance(node, ast.Call) and _name(node.func) == "super")


def test_no_private_attribute_of_another_object_is_read():
    found = {path: private_attributes(tree) - FOREIGN.get(path, set()) for path, tree in FILES.items() if path != COMPAT}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("search._sample(X)", {"_sample"}),
        ("machine.part._kept = 1", {"_kept"}),
        ("getattr(study, '_limit', None)", {"_limit"}),
        ("class A:\n    def f(self, other: A):\n        self._x = other._x", set()),
        ("class A:\n    _x = 1\ndef f(a):\n    return a._x", {"_x"}),
        ("class A(B):\n    def f(self):\n        return self._x, super()._y, self.__dict__, row._replace(a=1)", set()),
    ],
)
def test_a_private_attribute_of_another_object_is_found(code, names):
    assert private_attributes(ast.parse(code)) == names
