import pickle
import re
from functools import partial

import numpy as np
import pytest
from scipy.stats import loguniform, randint
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from spotsvm import ExactSVC, Space, SpotSearchCV, Study, compare
from spotsvm.errors import ArgumentError, BudgetError, SolverError
from spotsvm.searches import KeerthiLinSearch, NestedSearch, Stage, check_search

WIDE = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-3, 1e3)}
KERNELS = [
    {"kernel": ["linear"], "C": loguniform(2**-4, 2**2)},
    {"kernel": ["rbf"], "C": loguniform(2**-7, 2**8), "gamma": loguniform(2**-7, 2**2)},
]
short = partial(KeerthiLinSearch, n_costs=4, n_widths=10)
X, Y = make_classification(60, 5, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
X = scale(X)


def of(params, kernel):
    return [p for p in params if p["kernel"] == kernel]


def test_both_lines_are_those_of_the_paper():
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    tuned = SpotSearchCV(ExactSVC(), KERNELS, n_iter=14, search=short, cv=folds, random_state=0, start=[], sweep=None).fit(X, Y)
    params = tuned.cv_results_["params"]
    costs = [2.0**k for k in (-4, -2, 0, 2)]
    assert [p["kernel"] for p in params] == ["linear"] * 4 + ["rbf"] * 10
    assert sorted(p["C"] for p in of(params, "linear")) == pytest.approx(costs)
    c = max(costs, key=lambda C: cross_val_score(SVC(kernel="linear", C=C), X, Y, cv=folds).mean())
    line = [(c / 2 * 2.0**k, 2.0**-k) for k in range(-2, 8)]
    np.testing.assert_allclose(sorted((p["C"], p["gamma"]) for p in of(params, "rbf")), line)
    # the first of the Gaussian machines are the coarsest grid of the line
    assert {round(np.log2(p["gamma"])) for p in of(params, "rbf")[:2]} == {-7, 1}
    # on the line wide kernels become the linear machine
    wide = ExactSVC(C=c * 2.0**20 / 2, gamma=2.0**-20, tol=1e-6).fit(X, Y)
    plain = ExactSVC(kernel="linear", C=c, tol=1e-6).fit(X, Y)
    np.testing.assert_allclose(wide.decision_function(X), plain.decision_function(X), atol=0.05)


def sphere(p):
    return (np.log2(p["C"]) - 1) ** 2 + (np.log2(p.get("gamma", 1.0)) + 3) ** 2


def test_one_dictionary_has_the_kernel_as_a_choice():
    space = {"svm__kernel": ["linear", "rbf"], "svm__C": loguniform(2**-6, 2**6), "svm__gamma": loguniform(2**-6, 2**6)}
    study = Study(space, short, seed=0).run(lambda p: sphere({k[5:]: v for k, v in p.items()}), 14)
    assert [t.params["svm__kernel"] for t in study.trials] == ["linear"] * 4 + ["rbf"] * 10
    assert [t.origin for t in study.trials] == ["cost"] * 4 + ["width"] * 10


def test_without_a_linear_kernel_the_smallest_gamma_stands_for_it():
    trials = Study({**WIDE, "kernel": ["rbf"]}, short, seed=0).run(sphere, 12).trials
    first = [(t.params["C"], t.params["gamma"]) for t in trials[:4]]
    np.testing.assert_allclose(sorted(first), [(10.0**k, 1e-3) for k in (-3, -1, 1, 3)])
    C, gamma = min(first, key=lambda at: sphere(dict(zip(("C", "gamma"), at, strict=True))))
    assert [t.params["C"] * t.params["gamma"] for t in trials[4:]] == pytest.approx([C * gamma] * 8)
    assert all(gamma < t.params["gamma"] <= 10.0 * (1 + 1e-9) for t in trials[4:])


def test_further_trials_halve_the_steps_and_a_line_that_ends_is_told():
    space = {"C": loguniform(1.0, 4.0), "gamma": loguniform(1.0, 4.0)}
    study = Study(space, partial(KeerthiLinSearch, n_costs=2, n_widths=3), seed=0).run(lambda p: p["C"], 6)
    # the best cost is the smallest, from which the line leaves the space at once
    assert [t.origin for t in study.trials[2:]] == ["random"] * 4
    assert "the line of C and gamma from C = 2 has no further point in the space" in study.trials[-1].note
    study = Study(space, partial(KeerthiLinSearch, n_costs=2, n_widths=3), seed=0).run(lambda p: -p["C"], 6)
    assert sorted(t.params["gamma"] for t in study.trials[2:4]) == pytest.approx([2.0, 4.0])
    assert sorted(t.params["gamma"] for t in study.trials[4:]) == pytest.approx([2.0**0.5, 2.0**1.5])


def test_failures_and_workers_leave_the_best_cost_so_far():
    space = Space(KERNELS)
    search = short(space.domain, 0)
    search.take_space(space)
    first = [search.ask().point for _ in range(4)]
    assert search.n_foreseen == 1
    unknown = space.decode(search.ask().point)
    assert unknown["C"] * 2 * unknown["gamma"] == pytest.approx(1.0)  # the third of four costs, before any is known
    for point in first:
        search.tell(point, np.nan if space.decode(point)["C"] < 1 else space.decode(point)["C"])
    again = pickle.loads(pickle.dumps(search))
    assert search.n_foreseen == again.n_foreseen == 9
    assert again.ask().point.tolist() == search.ask().point.tolist()


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ({"C": WIDE["C"]}, "the space has no gamma"),
        ({"gamma": WIDE["gamma"]}, "the space has no C"),
        ({"x": (0.0, 1.0)}, "the space also has x"),
        ({**WIDE, "epsilon": (0.1, 1.0)}, "the space also has epsilon"),
        ({**WIDE, "degree": randint(2, 4)}, "the space also has degree"),
        ({**WIDE, "gamma": ["scale", "auto"]}, "gamma is not a range of positive numbers"),
        ({**WIDE, "C": [1, 10, 100]}, "C is not a range of positive numbers"),
        ({**WIDE, "C": (0.0, 1.0)}, "C is not a range of positive numbers"),
        ({**WIDE, "C": (1, 100, "log-uniform")}, "C is not a range of positive numbers"),
        ({**WIDE, "kernel": ["rbf", "poly"]}, "the space also has the kernel 'poly'"),
        ({**WIDE, "kernel": ["linear"]}, "the space has 1 linear and 0 Gaussian kernels"),
        ([{"kernel": ["rbf"], **WIDE}, {"kernel": ["rbf"], "C": [1], "gamma": [2]}], "0 linear and 2 Gaussian kernels"),
        ([{**KERNELS[0], "C": [1]}, KERNELS[1]], "C of the kernel 'linear' is not a range of positive numbers"),
        ([KERNELS[0], {**KERNELS[1], "C": loguniform(8, 16)}], "let that reach from 0.00781 to 256"),
    ],
)
def test_a_space_without_the_two_lines_is_refused_with_what_they_need(space, said):
    with pytest.raises(SolverError, match=re.escape(said)) as raised:
        Study(space, "keerthi_lin")
    assert "the two lines need positive ranges of C and gamma" in str(raised.value)
    needed = eval(re.search(r"such as (\[.*\])", str(raised.value))[1], {"loguniform": loguniform})
    assert Study(needed, "keerthi_lin").ask().params["kernel"] == "linear"


def test_a_domain_alone_is_refused():
    domain = Space(WIDE).domain
    for make in (
        lambda: check_search("keerthi_lin"),
        lambda: NestedSearch(domain, stages=[Stage(domain, 5)], inner="keerthi_lin"),
    ):
        with pytest.raises(SolverError, match="'keerthi_lin' needs the parameters behind the coordinates"):
            make()
    with pytest.raises(SolverError, match="n_costs=1 is not a number of trials on a line; use 2 or more"):
        KeerthiLinSearch(domain, n_costs=1)


def test_C_is_no_longer_swept_and_cannot_be():
    tuned = SpotSearchCV(make_pipeline(StandardScaler(), SVC()), {f"svc__{k}": law for k, law in WIDE.items()}, n_iter=5)
    tuned.set_params(search="keerthi_lin", random_state=0, cv=2)
    assert "sweep" not in tuned.fit(X, Y).cv_results_
    with pytest.raises(SolverError, match="the space has no svc__C|the space has no C, or a sweep has it"):
        tuned.set_params(sweep="svc__C").fit(X, Y)


def test_compare_takes_it_and_says_what_is_wrong_before_the_first_trial():
    named = {"lines": short, "random": "random"}
    assert len(compare(sphere, WIDE, named, n_trials=16, seeds=2).table()) == 2
    with pytest.raises(BudgetError, match="'lines': n_trials=6 is below the starts and two lines of 15 trials"):
        compare(sphere, WIDE, named, n_trials=6, seeds=2)
    with pytest.raises(ArgumentError, match="search 'lines' cannot be created: .* the space also has x"):
        compare(sphere, {"x": (0.0, 1.0)}, named, n_trials=16, seeds=2)
