import numpy as np
import pytest

from spotsvm import Space, Study
from spotsvm.errors import ArgumentError, StudyMismatchError
from spotsvm.kernels import ConicModel, FixedKernelModel, RbfModel, TunedConicModel, nested

GROUPS = {"a": [0, 1], "b": [2]}
MODELS = [RbfModel(GROUPS), TunedConicModel(GROUPS)]


def response(params):
    """Its best point is not among the poorer model's."""
    logs = {name: np.log2(value) for name, value in params.items()}
    return (
        (logs["weights__a"] - 3) ** 2 + (logs["weights__b"] + 1) ** 2
        + (logs["gamma__a"] + 2) ** 2 + (logs["gamma__b"] - 1) ** 2
    )  # fmt: skip


@pytest.mark.parametrize("search", ["carrizosa2014", "kriging", "cmaes", "lbfgsb"])
def test_the_poorer_model_comes_first_and_the_richer_goes_on_from_it(search):
    study = Study(MODELS[1].space(), nested(MODELS, (12, 20), search), seed=0).run(response, n_trials=32)
    tied = [
        t.params["weights__a"] == pytest.approx(t.params["weights__b"])
        and t.params["gamma__a"] == pytest.approx(t.params["gamma__b"])
        for t in study.trials
    ]
    assert all(tied[:12])
    assert sum(tied[12:]) <= 1
    assert "RbfModel" in study.trials[0].note
    assert "TunedConicModel" in study.trials[20].note


def test_vns_starts_from_the_best_with_the_papers_radii():
    radius = 1 / 24
    from functools import partial

    from spotsvm.searches import VnsSearch

    inner = partial(VnsSearch, step=radius, radii="linear", kappa_max=25, plateau="stay")
    study = Study(MODELS[1].space(), nested(MODELS, (15, 5), inner), seed=4).run(response, n_trials=16)
    best = min(study.trials[:15], key=lambda t: t.value)
    assert np.abs(np.array(study.trials[15].point) - np.array(best.point)).max() <= radius + 1e-12
    space = Space(MODELS[1].space())
    search = nested(MODELS, (15, 5), "carrizosa2014")(space.domain, 0)
    for stage, inner in zip(search.stages, search._inners, strict=True):
        assert np.allclose(inner.radii * stage.domain.widths, np.arange(1, 26)[:, None])
    assert sorted(search.stages[1].domain.widths) == pytest.approx([16, 16, 24, 24])


LINEAR = [FixedKernelModel(GROUPS, kernel="linear"), ConicModel({"a": [0], "b": [1, 2]}, kernel="linear")]


@pytest.mark.parametrize(
    ("models", "n_trials", "more", "message"),
    [
        (MODELS[::-1], (5, 5), {}, "is not contained in"),
        (LINEAR, (5, 5), {}, "is not contained in"),
        ([], (), {}, "models is empty"),
        (MODELS, (5, 5), {"spaces": [MODELS[0].space()]}, "spaces has 1 entries for 2 models"),
        ("vns", (5, 5), {}, "use a sequence of kernel models"),
        (MODELS[0], (5, 5), {}, "use a sequence of kernel models"),
        ([MODELS[0], "linear"], (5, 5), {}, "use a sequence of kernel models"),
        (MODELS, (5, 5), {"search": 3}, "search=3; use a name"),
        *((MODELS, n, {}, "for 2 models") for n in ((), (1, 2, 3), (0, 5), (5.0, 5), 10, (True, 3))),
    ],
)
def test_arguments_that_make_no_sense(models, n_trials, more, message):
    with pytest.raises(ArgumentError, match=message):
        nested(models, n_trials, **more)


@pytest.mark.parametrize("search", ["vns", "kriging", "cmaes"])
def test_a_budget_that_never_reaches_the_richest_model_may_grow(search):
    last = {"vns": 1, "kriging": 6, "cmaes": 8}[search]
    study = Study(MODELS[1].space(), nested(MODELS, (12,), search), seed=0)
    assert study.run(response, n_trials=11).trials[-1].note.startswith("stage 1 of 2")
    assert study.run(response, n_trials=12 + last).trials[12].note.startswith("stage 2 of 2")


def test_ranges_of_the_users_own_which_may_be_too_small():
    spaces = [model.space(weights=(0.5, 2.0), gamma=(0.25, 4.0)) for model in MODELS]
    study = Study(spaces[1], nested(MODELS, (6, 6), "vns", spaces=spaces), seed=1).run(response, n_trials=12)
    assert all(0.5 <= t.params["weights__b"] <= 2.0 for t in study.trials)
    spaces = [MODELS[0].space(), MODELS[1].space(weights=(0.5, 2.0))]
    with pytest.raises(ValueError, match="is not a number in"):
        Study(spaces[1], nested(MODELS, (6, 6), "vns", spaces=spaces))


@pytest.mark.parametrize(("search", "cuts"), [("vns", (9, 18)), ("kriging", (12,))])
def test_a_nested_study_is_resumed_in_any_stage(tmp_path, search, cuts):
    def study(path=None, n_first=12):
        return Study(MODELS[1].space(), nested(MODELS, (n_first, 8), search), seed=3, path=path)

    whole = study().run(response, n_trials=20)
    for cut in cuts:
        with study(tmp_path / f"{cut}.db") as interrupted:
            for _ in range(cut):
                trial = interrupted.ask()
                interrupted.tell(trial, response(trial.params))
        with study(tmp_path / f"{cut}.db") as resumed:
            assert [t.point for t in resumed.run(response, n_trials=20).trials] == [t.point for t in whole.trials]
        with pytest.raises(StudyMismatchError, match="n_trials=12"):
            study(tmp_path / f"{cut}.db", n_first=13)
    batches = [study().run(response, n_trials=20, batch_size=4).trials for _ in range(2)]
    assert [t.point for t in batches[0]] == [t.point for t in batches[1]]
