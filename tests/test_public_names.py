"""What users import: all of it is there, documented, and loaded only when it is asked for."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import textwrap
from operator import attrgetter

import pytest
from installed_command import main
from sklearn.base import BaseEstimator

import spotsvm
from spotsvm import Kriging


def test_every_public_name_can_be_loaded():
    assert set(spotsvm.__all__) <= set(dir(spotsvm))
    for name in spotsvm.__all__:
        assert getattr(spotsvm, name) is not None
    assert spotsvm.Kriging is Kriging


def test_type_checkers_see_every_public_name():
    """They take an import for public only where it is written "import name as name"."""
    block = inspect.getsource(spotsvm).split("if TYPE_CHECKING:")[1].split("\n\n")[0]
    names = dict.fromkeys(spotsvm._FURTHER, "spotsvm") | spotsvm._MODULES
    expected = [f"    from {module} import {name} as {name}" for name, module in names.items()]
    assert block.splitlines()[1:] == expected


#: the modules of further public names
HOMES = {
    home: importlib.import_module(home)
    for home in (
        "spotsvm.acquisition",
        "spotsvm.errors",
        "spotsvm.kernels",
        "spotsvm.plots",
        "spotsvm.searches",
        "spotsvm.solvers.dual",
        "spotsvm.tables",
    )  # fmt: skip
}


def test_the_modules_say_what_is_in_them():
    for home in HOMES.values():
        assert sorted(home.__all__) == sorted({*home.__all__})
        assert [name for name in home.__all__ if getattr(home, name) is None] == []


def test_a_name_has_one_home():
    """But for the solvers of the dual, which are used daily."""
    names = [name for home in (spotsvm, *HOMES.values()) for name in home.__all__]
    assert {name for name in names if names.count(name) > 1} == {"solve_dual", "solve_dual_regression"}


def test_no_module_hides_a_public_name():
    """Importing a submodule sets it as an attribute of the package, in place of what has the same name."""
    modules = {module.name for module in pkgutil.iter_modules(spotsvm.__path__)}
    assert not modules & set(spotsvm.__all__)


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="module 'spotsvm' has no attribute 'Tuner'"):
        spotsvm.Tuner  # noqa: B018


def test_public_things_are_documented():
    for name in spotsvm.__all__:
        thing = getattr(spotsvm, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert thing.__doc__, name
            assert thing.__doc__.splitlines()[0].strip().endswith((".", ":")), name
        if inspect.isclass(thing):
            methods = [m for n, m in vars(thing).items() if not n.startswith("_") and inspect.isfunction(m)]
            assert [m.__qualname__ for m in methods if not inspect.getdoc(m)] == []


def parameters(things):
    """Return the parameters of public classes and functions, by their names."""
    found = {name: getattr(spotsvm, name) for name in things}
    of_ours = {n: t for n, t in found.items() if inspect.isfunction(t) or (inspect.isclass(t) and not issubclass(t, Exception))}
    return {name: inspect.signature(thing).parameters for name, thing in of_ours.items()}


def test_gamma_is_scale_by_default_in_every_estimator():
    estimators = [
        name for name in spotsvm.__all__ if inspect.isclass(t := getattr(spotsvm, name)) and issubclass(t, BaseEstimator)
    ]
    defaults = {name: p["gamma"].default for name, p in parameters(estimators).items() if "gamma" in p}
    assert defaults.pop("ReducedSVC") is None  # it is chosen together with C
    assert len(defaults) == 7
    assert set(defaults.values()) == {"scale"}


def test_a_budget_of_evaluations_is_called_trials():
    others = {"budget", "evaluations", "n_calls", "n_evaluations", "n_evals", "max_evaluations", "max_evals", "max_trials"}
    # a Recommendation counts what was evaluated; a budget of sweeps is none of evaluations
    found = parameters(set(spotsvm.__all__) - {"Recommendation", "TunedSVC", "TunedSVR"})
    assert {name: others & p.keys() for name, p in found.items() if others & p.keys()} == {}
    assert [name for name, p in found.items() if "n_iter" in p] == ["SpotSearchCV"]
    assert {"EvolvedKernelSVC", "EvolvedKernelSVR", "MultiKernelSVC", "MultiKernelSVR", "ReducedSVC", "compare"} <= {
        name for name, p in found.items() if "n_trials" in p
    }
    options = [
        option for name in ("tune", "demo") for parameter in main.get_command(None, name).params for option in parameter.opts
    ]
    assert not {f"--{name.replace('_', '-')}" for name in others} & set(options)
    assert options.count("--trials") == 2


def see_also(thing):
    """Return the names in the section "See Also" of a docstring in numpydoc's format."""
    found = re.search(r"^See Also\n--------\n((?:\S.*\n?)+)", inspect.getdoc(thing) or "", flags=re.M)
    return [re.fullmatch(r"([\w.]+) : [A-Z].*\.", line)[1] for line in found[1].splitlines()] if found else []


def named(text, home):
    """Return what a name means in a section "See Also" of a home: what is there, or one of its attributes; or a whole path."""
    first, *rest = text.split(".")
    if first in home.__all__:
        return attrgetter(text)(home)
    parts = next(n for n in range(len(rest) + 1, 0, -1) if ".".join(text.split(".")[:n]) in KNOWN)
    return attrgetter(".".join(text.split(".")[parts:]))(importlib.import_module(".".join(text.split(".")[:parts])))


#: the modules that whole paths begin with
KNOWN = {"spotsvm", "sklearn.model_selection", "sklearn.metrics", *HOMES}
PUBLIC = [
    (home, name) for home in (spotsvm, *HOMES.values()) for name in home.__all__ if hasattr(getattr(home, name), "__name__")
]


def test_what_a_public_thing_says_to_see_as_well_is_there():
    for home, name in PUBLIC:
        thing = getattr(home, name)
        assert [other for other in see_also(thing) if named(other, home) in (None, thing)] == [], name


def test_every_public_thing_has_an_example():
    things = {name: getattr(home, name) for home, name in PUBLIC}
    shown = {name: t for name, t in things.items() if not (inspect.isclass(t) and issubclass(t, Exception))}
    example = re.compile(r"^Examples\n--------\n(?s:.*?)^>>> ", flags=re.M)
    assert [name for name, thing in shown.items() if not example.search(inspect.getdoc(thing))] == []


def test_every_picture_has_an_example():
    pictures = [name for name in dir(spotsvm.Study) if name.startswith("plot_")]
    assert [name for name in pictures if "\n>>> " not in inspect.getdoc(getattr(spotsvm.Study, name))] == []


def own_members(cls):
    """Return the public methods and properties of a class that this library writes, by name; not the inherited ones of others."""
    found = {}
    for base in cls.__mro__:
        if base.__module__.startswith("spotsvm."):
            for name, member in vars(base).items():
                wrapped = [getattr(member, how, None) for how in ("fget", "func", "fn", "__func__")]  # by a property, say
                inner = next(filter(None, wrapped), member)
                if not name.startswith("_") and getattr(inner, "__qualname__", "") == f"{base.__qualname__}.{name}":
                    found.setdefault(name, member)
    return found


MEMBERS = [
    (home, name, member) for home, name in PUBLIC if inspect.isclass(cls := getattr(home, name)) for member in own_members(cls)
]


def test_what_a_public_method_says_to_see_as_well_is_there():
    for home, name, member in MEMBERS:
        cls = getattr(home, name)
        for other in see_also(own_members(cls)[member]):
            assert other != member, name
            assert hasattr(cls, other) or named(other, home) is not None, (name, member)


def test_the_methods_are_those_that_the_library_writes():
    found = {f"{name}.{member}" for _, name, member in MEMBERS}
    assert found >= {"Study.run", "Study.n_finished", "Study.from_frame", "SpotSearchCV.predict", "Domain.levels", "ExactSVC.fit"}
    assert not found & {"ExactSVC.score", "ExactSVC.set_fit_request", "Stage.embed", "BlockSplit.n_blocks"}


IMPORTS = """
import sys
import spotsvm

HEAVY = ["cma", "matplotlib", "numba", "pymoo", "sklearn", "scipy", "pandas"]
print(*[name for name in HEAVY if name in sys.modules])
from spotsvm import Study, SpotSearchCV

print(*[name for name in HEAVY[:4] if name in sys.modules])
print(*(name for name in dir(spotsvm) if not name.startswith("__") and hasattr(spotsvm, name)))
"""


def test_importing_loads_nothing_heavy_and_dir_shows_what_is_public():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    first, second, shown = done.stdout.splitlines()
    assert (first, second) == ("", "")
    assert sorted(shown.split()) == sorted([*spotsvm.__all__, "acquisition", "errors", "kernels", "plots", "searches", "tables"])


#: the public names, each by the module that users import it from
NAMES = {f"{home.__name__}.{name}": getattr(home, name) for home in (spotsvm, *HOMES.values()) for name in home.__all__}


def functions():
    """Return the public functions and the public methods of public classes that are ours."""
    found = {}
    for name, thing in NAMES.items():
        members = inspect.getmembers_static(thing) if inspect.isclass(thing) else [("", thing)]
        for attribute, member in members:
            function = inspect.unwrap(getattr(member, "__func__", member))
            ours = inspect.isfunction(function) and function.__module__.startswith("spotsvm")
            public = ours and not attribute.startswith("_") and not function.__name__.startswith("_")
            if public and function not in found.values():
                found[f"{name}.{attribute}".removesuffix(".")] = function
    return found


FUNCTIONS = functions()


def has(thing, section):
    return re.search(rf"^(?:{section})\n-", inspect.getdoc(thing) or "", flags=re.M) is not None


def test_what_returns_something_says_what():
    """But for what returns nothing, or the object itself."""
    assert len(FUNCTIONS) > 250
    returning = {n: f for n, f in FUNCTIONS.items() if f.__annotations__.get("return") not in (None, "None", "Self", "NoReturn")}
    assert len(returning) > 150
    assert [name for name, function in returning.items() if not has(function, "Returns|Yields")] == []


def test_what_raises_an_error_says_which():
    """By itself; a method that a subclass has to write raises NotImplementedError."""
    silent = []
    for name, function in FUNCTIONS.items():
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        raised = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None]
        errors = {ast.unparse(getattr(error, "func", error)) for error in raised} - {"NotImplementedError"}
        if errors and not has(function, "Raises"):
            silent.append(name)
    assert silent == []


def test_examples_import_public_names_only():
    """Those of public things and of their public methods."""
    for line in "\n".join(inspect.getdoc(one) or "" for one in [*NAMES.values(), *FUNCTIONS.values()]).splitlines():
        if found := re.match(r"\s*(?:>>>|\.\.\.) from (spotsvm[\w.]*) import ([\w, ]+)", line):
            for imported in found[2].split(","):
                first = imported.split(" as ")[0].strip()
                assert f"{found[1]}.{first}" in NAMES or f"{found[1]}.{first}" in HOMES, line
