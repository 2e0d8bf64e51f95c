import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import GridSearchCV, GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, spectra_pipeline
from spotsvm.errors import ArgumentError
from spotsvm.studies.common.data import read_table

#: smooth curves whose shape depends on the class
CLASSES = [1, 2, 3, 4, 5]
PEAKS, GRADE = make_classification(
    n_samples=240, n_features=6, n_informative=6, n_redundant=0, n_classes=5, n_clusters_per_class=1, class_sep=2, random_state=0
)
WAVES = np.exp(-((np.linspace(0, 1, 40) - np.linspace(0, 1, 6)[:, None]) ** 2) / 0.05)
SPECTRA, GRADE = PEAKS @ WAVES, GRADE + 1


def bounds(space):
    return {name.rpartition("cutoffclassifier__")[2]: [round(float(b), 4) for b in d.support()] for name, d in space.items()}


#: bounds of the share, C, gamma, each weight and each cutoff
BOUNDS = {
    "table7": [[0.05, 1.0], [1.0, 10.0], [0.005, 0.3], [0.05, 1.0], [0.01, 0.4]],
    "table8": [[0.05, 1.0], [0.01, 100.0], [0.001, 0.8], [0.05, 1.0], [0.01, 0.4]],
    "default": [[0.05, 1.0], [0.25, 4096.0], [0.0002, 1.0], [0.6667, 1.5], [0.175, 0.2286]],
}


@pytest.mark.parametrize("region", BOUNDS)
def test_the_regions_are_those_of_tables_7_and_8_and_one_about_balanced_weights(region):
    share, c, gamma, weight, cutoff = BOUNDS[region]
    assert bounds(spectra_pipeline("classification", 100, CLASSES, region=region)[1]) == {
        "importancefraction__fraction": share,
        "estimator__C": c,
        "estimator__gamma": gamma,
        **{f"class_weight__{k}": weight for k in CLASSES},
        **{f"cutoff__{k}": cutoff for k in CLASSES[:-1]},
    }


def test_the_middle_of_the_default_region_is_balanced_weights_and_equal_cutoffs():
    pipeline, space = spectra_pipeline("classification", 100, CLASSES)
    own, centre = pipeline.get_params(deep=True), {name: float(d.median()) for name, d in space.items()}
    of_classes = [name for name in space if "__class_weight__" in name or "__cutoff__" in name]
    assert {name: own[name] for name in of_classes} == pytest.approx({name: centre[name] for name in of_classes})
    uneven = np.r_[: len(GRADE), np.flatnonzero(GRADE == 2)]
    balanced = make_pipeline(*clone(pipeline[:-1]), SVC(class_weight="balanced", break_ties=True))
    ours, plain = (machine.fit(SPECTRA[uneven], GRADE[uneven]) for machine in (pipeline, balanced))
    np.testing.assert_array_equal(ours.predict(SPECTRA), plain.predict(SPECTRA))


def test_only_ratios_of_the_cutoffs_matter():
    pipeline, space = spectra_pipeline("classification", 240, CLASSES, n_estimators=10)
    lowest = {name: float(d.support()[0]) for name, d in space.items() if "__cutoff__" in name}
    same, equal = {"cutoffclassifier__cutoff": [7 / 36] * 4 + [8 / 36]}, {"cutoffclassifier__cutoff": None}
    found = [
        clone(pipeline).set_params(**changed).fit(SPECTRA, GRADE).decision_function(SPECTRA) for changed in (lowest, same, equal)
    ]
    np.testing.assert_allclose(found[0], found[1] * 40 / 36)
    np.testing.assert_allclose(found[0], found[2] * ([8 / 7] * 4 + [1.0]))


def test_the_paper_s_best_values_can_be_set():
    pipeline, space = spectra_pipeline("classification", 100, CLASSES, region="table8")
    weights, cutoffs = [0.849, 0.431, 0.246, 0.468, 0.814], [0.216, 0.023, 0.335, 0.389]
    values = {
        "importancefraction__fraction": 0.237,
        "cutoffclassifier__estimator__gamma": 0.195,
        "cutoffclassifier__estimator__C": 54.6,
    }
    values |= {f"cutoffclassifier__class_weight__{k}": w for k, w in zip(CLASSES, weights, strict=True)}
    values |= {f"cutoffclassifier__cutoff__{k}": c for k, c in zip(CLASSES[:-1], cutoffs, strict=True)}
    assert set(values) == set(space)
    for name, value in values.items():
        low, high = space[name].support()
        assert low <= value <= high
    fitted = pipeline.set_params(**values).fit(SPECTRA, GRADE)
    assert fitted[-1].class_weight_.tolist() == weights
    np.testing.assert_allclose(fitted[-1].cutoff_, [*cutoffs, 1 - sum(cutoffs)])


def test_the_steps_are_the_paper_s():
    pipeline, _ = spectra_pipeline("classification", 240, CLASSES)
    fitted = pipeline.fit(SPECTRA, GRADE)
    components = PCA(svd_solver="full").fit(SPECTRA)
    rank = (components.singular_values_ > 1e-8 * components.singular_values_[0]).sum()
    assert fitted["principalmonomials"].transform(SPECTRA).shape[1] == rank + rank * (rank + 1) // 2
    assert fitted["importancefraction"].importances_[fitted["importancefraction"].get_support()].sum() >= 0.5
    scaled = fitted[:-1].transform(SPECTRA)
    np.testing.assert_allclose(scaled.std(axis=0), 1)
    scaled = spectra_pipeline("classification", 240, CLASSES, scale=True)[0]
    assert list(scaled.named_steps) == ["scale_spectra", *pipeline.named_steps]


def test_the_corners_of_a_region_can_be_fitted():
    """All cutoffs at their upper ends sum to 1.6, which is scaled."""
    pipeline, space = spectra_pipeline("classification", 240, CLASSES, region="table8", n_estimators=5)
    for end in (0, 1):
        values = {name: float(d.support()[end]) for name, d in space.items()}
        machine = clone(pipeline).set_params(**values).fit(SPECTRA, GRADE)
        told = machine.predict(SPECTRA)
        assert len(told) == len(GRADE)
        assert set(told) <= set(CLASSES)
    # of the upper ends, 0.4 each, nothing is left for the last class: all are scaled so that they sum to 1
    assert machine[-1].cutoff_.sum() == pytest.approx(1.0)
    assert machine[-1].cutoff_[:-1] == pytest.approx(np.full(len(CLASSES) - 1, machine[-1].cutoff_[0]))


def test_two_classes_and_labels_of_text():
    _, space = spectra_pipeline("classification", 100, ["lean", "fat"])
    found = bounds(space)
    assert [name for name in found if "cutoff" in name] == ["cutoff__fat"]
    assert found["cutoff__fat"] == [0.4375, 0.5714]
    assert bounds(spectra_pipeline("classification", 100, ["lean", "fat"], region="table7")[1])["cutoff__fat"] == [0.025, 1.0]
    assert {"class_weight__fat", "class_weight__lean"} <= set(found)


def spectra_of_fat(n=120):
    """Return spectra with scatter and a drifting baseline, and shares of fat: with stray light no linear function of them."""
    rng = np.random.default_rng(0)
    nm = np.linspace(0, 1, 60)
    pure = np.exp(-(((nm - np.array([[0.2], [0.4], [0.6], [0.8]])) / 0.07) ** 2))
    shares = rng.dirichlet([2, 1.5, 5, 4], size=n)
    absorbance = -np.log10(10 ** -(1.5 * shares @ pure) + 0.05)
    scatter, drift = np.exp(0.25 * rng.normal(size=(n, 1))), rng.normal(size=(n, 3)) @ np.vander(nm, 3).T
    return absorbance * scatter + 0.1 * drift + 1e-3 * rng.normal(size=(n, 60)), 100 * shares[:, 0]


def test_regression_is_better_than_partial_least_squares():
    X, y = spectra_of_fat()
    pipeline, space = spectra_pipeline("regression", 80)
    assert set(space) == {
        "savitzkygolay__deriv",
        "savitzkygolay__window_length",
        "scattercorrection__method",
        "plsscores__n_components",
        *(f"transformedtargetregressor__regressor__{name}" for name in ("C", "gamma", "epsilon")),
    }
    search = SpotSearchCV(pipeline, space, n_iter=12, cv=3, random_state=0).fit(X[:80], y[:80])
    pls = GridSearchCV(PLSRegression(), {"n_components": range(1, 21)}, cv=3).fit(X[:80], y[:80])
    untuned, tuned, theirs = (
        root_mean_squared_error(y[80:], model.predict(X[80:])) for model in (pipeline.fit(X[:80], y[:80]), search, pls)
    )
    assert tuned < untuned < theirs


def test_regression_of_few_rows_and_columns():
    X, y = spectra_of_fat(9)
    for columns in (1, 4, 60):
        pipeline, space = spectra_pipeline("regression", 9)
        for end in (0, 1):
            ends = {name: d[-end] if isinstance(d, list) else d.support()[end] for name, d in space.items()}
            told = clone(pipeline).set_params(**ends).fit(X[:, :columns], y).predict(X[:, :columns])
            assert np.isfinite(told).all()


@pytest.mark.data
def test_the_fat_in_meat_is_predicted_with_a_third_of_the_error_of_partial_least_squares():
    table = read_table("tecator")
    X, y = table[[f"a{k}" for k in range(1, 101)]].to_numpy(), table["y"].to_numpy()
    train, test = next(GroupShuffleSplit(1, random_state=0).split(X, y, np.unique(X, axis=0, return_inverse=True)[1].ravel()))
    pipeline = spectra_pipeline("regression", len(train))[0]
    pipeline.set_params(
        plsscores__n_components=20,
        transformedtargetregressor__regressor__C=150.0,
        transformedtargetregressor__regressor__epsilon=0.01,
        transformedtargetregressor__regressor__gamma=1.5e-3,
    )
    pls = PLSRegression(13, scale=False)
    ours, theirs = (root_mean_squared_error(y[test], model.fit(X[train], y[train]).predict(X[test])) for model in (pipeline, pls))
    assert ours < theirs / 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("classification", 10, CLASSES, "table9"), "region='table9'; use one of 'default', 'table7', 'table8'"),
        (("regression", 10, None, "table7"), "region='table7' is for classification"),
        (("classification", 10, None, "default"), "classes=None; use two classes or more"),
        (("classification", 10, ["a", "a"], "default"), r"classes=\['a', 'a'\]; use two"),
    ],
)
def test_arguments_that_make_no_sense(arguments, message):
    task, n, classes, region = arguments
    with pytest.raises(ArgumentError, match=message):
        spectra_pipeline(task, n, classes, region=region)
