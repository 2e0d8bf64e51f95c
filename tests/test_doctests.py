"""The examples in docstrings, of each module by the name under which users import it."""

import doctest
import importlib
import importlib.util
from pathlib import Path

import pytest
from same_output import is_learned, same_output

NEED_DASK = {"spotsvm.study.workers.on_dask"}
NEED_OPTUNA = "spotsvm.study.optuna"
ROOT = Path(__file__).parent.parent
FLOORS = {name: f"spotsvm.{name}" for name in ("surrogates", "solvers", "studies")}
FOLDERS = {"spotsvm": "spotsvm", **FLOORS}
MODULES = {
    ".".join((name, *path.relative_to(ROOT / folder).with_suffix("").parts)).removesuffix(".__init__"): path
    for folder, name in FOLDERS.items()
    for path in sorted((ROOT / folder).rglob("*.py"))
}
WITH_EXAMPLES = sorted(name for name, path in MODULES.items() if ">>>" in path.read_text(encoding="utf-8"))


def missing(name):
    """Return what a module needs and is not installed."""
    if name in NEED_DASK and importlib.util.find_spec("distributed") is None:
        return 'Dask is not installed: pip install "spotsvm[dask]"'
    if name.startswith(NEED_OPTUNA) and importlib.util.find_spec("optuna") is None:
        return 'Optuna is not installed: pip install "spotsvm[optuna]"'
    return ""


LEARNED = doctest.register_optionflag("LEARNED")


class NearlySame(doctest.OutputChecker):
    """Compare outputs exactly, and learned numbers with a tolerance."""

    def check_output(self, want, got, optionflags):
        return super().check_output(want, got, optionflags) or bool(optionflags & LEARNED) and same_output(want, got)


def marked(docstring):
    """Return a docstring in which each example that shows a learned number is marked as such."""
    session = ""
    for example in docstring.examples:
        session += example.source
        example.options[LEARNED] = is_learned(session, example.source)
    return docstring


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name):
    if why := missing(name):
        pytest.skip(why)
    runner = doctest.DocTestRunner(checker=NearlySame())
    for docstring in doctest.DocTestFinder().find(importlib.import_module(name), name):
        runner.run(marked(docstring))
    assert runner.tries > 0
    assert runner.failures == 0


def test_every_other_module_can_be_imported():
    assert all(importlib.import_module(name) for name in MODULES if name not in WITH_EXAMPLES and not missing(name))


def test_all_packages_are_seen():
    assert {name.split(".")[1] for name in MODULES if name != "spotsvm"} >= {
        "surrogates",
        "solvers",
        "study",
        "search_cv",
        "studies",
    }
    assert len(MODULES) > 200


def test_only_what_was_learned_and_rounded_may_differ():
    source = """
    >>> round(0.9, 2), machine.score(X, y)
    (0.9, 0.9)
    >>> machine = machine.fit(X, y)
    >>> machine.score(X, y)
    0.9
    >>> round(machine.score(X, y), 2)
    0.9
    >>> len(X), round(machine.score(X, y), 2)
    (100, 0.9)
    """

    class Machine:
        def fit(self, X, y):
            return self

        def score(self, X, y):
            return 0.91

    names = {"machine": Machine(), "X": [0] * 101, "y": None}
    docstring = doctest.DocTestParser().get_doctest(source, names, "examples", None, 0)
    failed = []

    class Runner(doctest.DocTestRunner):
        def report_failure(self, out, test, example, got):
            failed.append(got.strip())

    Runner(checker=NearlySame()).run(marked(docstring))
    assert failed == ["(0.9, 0.91)", "0.91", "(101, 0.91)"]
