"""The tower: imports go down the ranks only, and never in a circle."""

import ast
from functools import cache
from pathlib import Path

import pytest
from parsed import parsed

ROOT = Path(__file__).parent.parent
FLOORS = ("surrogates", "solvers", "spotsvm", "studies")

#: The rank of each package, which is a folder, and what it must not know although its rank allows it. A file may import from its
#: own package and from those of a lower rank. A second number is the rank of an `__init__` that collects what is inside.
TABLE = """
surrogates                           0  5
surrogates.kriging                   2
surrogates.acquisition               3
solvers                              1
solvers.kernels.functions            2
solvers.kernels.matrices             3
solvers.kernels                      4  5
solvers.kernels.expressions          6  7
solvers.dual.problem                 2
solvers.dual.exact                   3
solvers.dual.evolution               4
solvers.dual                         5  6
solvers.dual.front                   7
solvers.search.contract              6
solvers.search.alternating           7  8
solvers.search.genetic_programming   8  9
solvers.search.kriging               7
solvers.search.multi_objective       8
solvers.search                      10 10
spotsvm.common                      11
spotsvm.space                       12
spotsvm.trials                      13
spotsvm.luck                        14
spotsvm.reports.html                14
spotsvm.reports                     15
spotsvm.study.record                15
spotsvm.study.workers               15
spotsvm.study                       16
spotsvm.study.optuna                17 18
spotsvm.estimators                  12      not spotsvm.space
spotsvm.estimators.dual             13      not spotsvm.space spotsvm.trials
spotsvm.estimators.cutoff           14      not spotsvm.space spotsvm.trials
spotsvm.estimators.conformal        14      not spotsvm.space spotsvm.trials
spotsvm.estimators.evolved          14      not spotsvm.space spotsvm.trials
spotsvm.estimators.reduced          14      not spotsvm.space spotsvm.trials
spotsvm.preprocessing.cells         12      not spotsvm.space spotsvm.estimators
spotsvm.preprocessing.spectra       12
spotsvm.preprocessing.time_series   12
spotsvm.preprocessing               13      not spotsvm.space spotsvm.trials spotsvm.estimators
spotsvm.tuned                       18
spotsvm.cross_validation            15      not spotsvm.study spotsvm.reports spotsvm.preprocessing
spotsvm.out_of_fold                 15      not spotsvm.study spotsvm.reports spotsvm.cross_validation
spotsvm.luck.refits                 16      not spotsvm.study spotsvm.reports
spotsvm.search_cv                   17
spotsvm.multi_kernel.models         18
spotsvm.multi_kernel                19 20
spotsvm.comparison                  17
spotsvm.tuning.tables               15
spotsvm.tuning.pipelines            19
spotsvm.tuning                      20
spotsvm.commands                    21
spotsvm                             22
studies.common                      23
studies.tasks                       24
studies.new_rows                    24
studies                             26
"""
#: the rank of a study's folder
STUDY = 25
#: the one file below all packages: every package raises errors, and it imports nothing
ERRORS = "spotsvm.errors"


def _table():
    ranks, unknown = {}, {}
    for line in TABLE.strip().splitlines():
        row, _, names = line.partition(" not ")
        package, rank, *collected = row.split()
        ranks[package] = int(rank)
        ranks[f"{package}.__init__"] = int((collected or [rank])[0])
        unknown[package] = tuple(names.split())
    return ranks, unknown


RANKS, UNKNOWN = _table()


def files():
    return {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): path
        for f in FLOORS
        for path in (ROOT / f).rglob("*.py")
    }


FILES = files()


def package_of(module):
    return module.rpartition(".")[0]


def rank(module):
    package = package_of(module)
    if module == ERRORS:
        return -1
    if module.endswith(".__init__"):
        return RANKS.get(module, STUDY)
    return RANKS.get(package, STUDY)


def imports(source):
    """Return the names that a file imports from, those inside functions and for type checkers included."""
    found = []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found += [(node.module, alias.name) for alias in node.names]
    return found


def imported_files(source, known=None):
    """Return the files of ours that a file imports, by their dotted path from the root."""
    known = FILES if known is None else known
    found = []
    for module, name in imports(source):
        head, _, rest = module.partition(".")
        if head != "spotsvm":
            continue
        inside = rest if rest.partition(".")[0] in ("surrogates", "solvers", "studies") else f"spotsvm.{rest}".rstrip(".")
        for candidate in (f"{inside}.{name}", f"{inside}.{name}.__init__", inside, f"{inside}.__init__"):
            if candidate in known:
                found.append(candidate)
                break
        else:
            raise AssertionError(f"{module} is no file of ours")
    return list(dict.fromkeys(found))


@cache
def graph():
    return {module: imported_files(path.read_text()) for module, path in FILES.items()}


def wrong(module, imported):
    """Return what a file imports that it must not."""
    package = package_of(module)
    own = [i for i in imported if package_of(i) != package or (i.endswith(".__init__") and not module.endswith(".__init__"))]
    up = [i for i in own if rank(i) >= rank(module)]
    unknown = [i for i in own if any(i.startswith(f"{name}.") for name in UNKNOWN.get(package, ()))]
    return up + [i for i in unknown if i not in up]


def circles(edges):
    """Return the groups of files that import each other in a circle (Tarjan's strongly connected components)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in edges[node]:
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            at = stack.index(node)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1 or node in edges[node]:
                found.append(sorted(group))

    for node in edges:
        if node not in order:
            visit(node)
    return found


def test_imports_go_down():
    assert {module: up for module, imported in graph().items() if (up := wrong(module, imported))} == {}


def test_the_errors_are_below_everything():
    assert graph()[ERRORS] == []
    assert wrong("surrogates.domain", [ERRORS]) == []


def test_no_file_imports_itself_in_a_circle():
    assert circles(graph()) == []


def test_every_package_has_a_rank():
    packages = {package_of(module) for module in FILES}
    assert {p for p in packages if p not in RANKS and not p.startswith("studies.")} == set()
    assert set(RANKS) - {f"{p}.__init__" for p in RANKS} <= packages


#: the one file that knows private names of other packages, and private attributes of scikit-learn's objects that it reads
COMPAT = "spotsvm.common.compat"
THEIRS = {"_score_func", "_sign", "_kwargs", "_response_method", "_validate_params", "_skl_callbacks", "_init_callback_context"}


def private_names(source):
    """Return the private names of other packages that a file imports or reads."""
    found = [f"{module}.{name}" for module, name in imports(source) if module.split(".")[0] not in ("spotsvm", "__future__")]
    private = [name for name in found if any(part.startswith("_") and not part.endswith("__") for part in name.split("."))]
    read = [node.attr for node in ast.walk(parsed(source)) if isinstance(node, ast.Attribute) and node.attr in THEIRS]
    named = [node.value for node in ast.walk(parsed(source)) if isinstance(node, ast.Constant) and node.value in THEIRS]
    return private + read + named


def test_private_names_of_scikit_learn_stand_in_one_file():
    assert {module: names for module, path in FILES.items() if (names := private_names(path.read_text()))}.keys() == {COMPAT}
    assert private_names("from sklearn.utils import _safe_indexing, indexable") == ["sklearn.utils._safe_indexing"]
    assert private_names("import sklearn.metrics._scorer") == ["sklearn.metrics._scorer."]
    assert private_names("scorer._sign + getattr(scorer, '_kwargs')") == ["_sign", "_kwargs"]


def test_what_goes_up_or_round_is_found():
    known = {"spotsvm.study.study": 0, "surrogates.domain": 0, "spotsvm.space.space": 0}
    inside = imported_files("def f():\n    from spotsvm.study.study import Study", known)
    assert wrong("surrogates.domain", inside) == ["spotsvm.study.study"]
    typed = imported_files("if TYPE_CHECKING:\n    import spotsvm.study.study", known)
    assert wrong("spotsvm.space.space", typed) == ["spotsvm.study.study"]
    assert wrong("spotsvm.estimators.dual.exact_svc", ["spotsvm.space.space"]) == ["spotsvm.space.space"]
    assert circles({"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": []}) == [["a", "b", "c"]]


@pytest.mark.parametrize("floor", FLOORS)
def test_every_package_is_typed(floor):
    assert (ROOT / floor / "py.typed").is_file()


@pytest.mark.parametrize(
    "folder", sorted({path.parent.relative_to(ROOT) for m, path in FILES.items() if m.startswith("spotsvm.")}), ids=str
)
def test_every_package_says_what_it_is_for_and_may_import(folder):
    said = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text())) or ""
    assert "may import" in said or folder == Path("spotsvm")


def test_the_search_floors_know_no_svm():
    """`surrogates` works on points and values; the models that it is used for have no place in it."""
    assert [path for module, path in FILES.items() if module.startswith("surrogates") and "sklearn.svm" in path.read_text()] == []
