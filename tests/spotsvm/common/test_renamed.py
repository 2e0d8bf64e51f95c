import inspect
import json

import pytest
from sklearn.base import clone
from sklearn.svm import SVC

from spotsvm import EvolvedKernelSVC, EvolvedKernelSVR, ReducedSVC, Study
from spotsvm.commands.tune import demo, tune

RENAMED = [(EvolvedKernelSVC, "n_evaluations"), (EvolvedKernelSVR, "n_evaluations"), (ReducedSVC, "max_evaluations")]


@pytest.mark.parametrize(("kind", "old"), RENAMED, ids=[kind.__name__ for kind, _ in RENAMED])
def test_an_old_name_of_a_parameter_works_with_a_warning(kind, old):
    said = f"{old} of {kind.__name__} will be gone in the next version; use n_trials$"
    with pytest.warns(DeprecationWarning, match=said) as caught:
        machine = kind(**{old: 7, "tol": 0.01})
    assert caught[0].filename == __file__
    assert machine.get_params() == kind(n_trials=7, tol=0.01).get_params() == clone(machine).get_params()
    with pytest.warns(DeprecationWarning, match=said):
        assert machine.set_params(**{old: 9, "tol": 0.1}) is machine
    assert (machine.n_trials, machine.tol) == (9, 0.1)
    with pytest.warns(DeprecationWarning, match=f"{kind.__name__}.{old} will be gone in the next version; use n_trials$"):
        assert getattr(machine, old) == 9
    with pytest.raises(TypeError, match=f"{kind.__name__} got {old} and n_trials, which are the same; use n_trials"):
        kind(**{old: 7, "n_trials": 7})
    assert old not in inspect.signature(kind).parameters
    assert inspect.signature(kind).parameters.keys() == kind().get_params().keys()


def test_an_unknown_name_is_still_unknown():
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_calls'"):
        ReducedSVC(n_calls=3)
    with pytest.raises(ValueError, match="Invalid parameter 'n_calls'"):
        ReducedSVC().set_params(n_calls=3)
    assert not hasattr(SVC(), "max_evaluations")


def test_the_budget_of_a_status():
    status = Study({"x": [1, 2, 3]}, "random", 0).run(lambda params: params["x"], n_trials=2).status()
    with pytest.warns(DeprecationWarning, match=r"Status.budget will be gone in the next version; use n_trials$"):
        assert status.budget == 2
    written = json.loads(json.dumps(status.to_dict()))
    assert written["budget"] == written["n_trials"] == 2


@pytest.mark.parametrize(("command", "before"), [(tune, ["data.csv", "--target", "y"]), (demo, [])])
@pytest.mark.parametrize("given", [["--budget", "7"], ["--budget=7"]])
def test_the_option_budget(command, before, given, capsys):
    assert command.make_context("it", [*before, *given]).params["n_trials"] == 7
    assert capsys.readouterr().err == "spotsvm: --budget will be gone in the next version; use --trials\n"
    assert command.make_context("it", [*before, "--trials", "8"]).params["n_trials"] == 8
    assert capsys.readouterr().err == ""
    assert "--budget" not in command.get_help(command.make_context("it", [], resilient_parsing=True))


def test_what_follows_two_dashes_is_no_option():
    assert tune.make_context("it", ["--target", "y", "--", "--budget"]).params["file"].name == "--budget"
