"""The methods section: every sentence is true of the record that it is made from."""

import re
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import loguniform, norm
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import SpotSearchCV, Study, TunedSVC, TunedSVR, expected_score, load_study, oversearching
from spotsvm.errors import ArgumentError
from spotsvm.searches import KrigingSearch, RandomSearch
from tests.spotsvm.reports.test_numbers import tuned

ROOT = Path(__file__).parents[3]
SPACE = {"x": (0.0, 1.0), "kind": ["a", "b"]}
X, y = (part[:150] for part in load_breast_cancer(return_X_y=True))
SVM = make_pipeline(StandardScaler(), SVC())
SVM_SPACE = {"svc__C": loguniform(0.01, 100), "svc__gamma": loguniform(1e-4, 1)}


def square(params):
    return (params["x"] - 0.3) ** 2


def noisy(seed):
    rng = np.random.default_rng(seed)
    return lambda params: square(params) + 0.1 * rng.normal()


def test_a_deterministic_study():
    study = Study(SPACE, seed=3).run(square, n_trials=12)
    section, best = study.methods_section(), study.recommend()
    text = str(section)
    assert "The parameters `x` and `kind` (Table 1) were tuned by sequential parameter optimisation with a Kriging" in text
    assert f"implemented in spotsvm {study.about['versions']['spotsvm']} [@spotsvm]" in text
    assert "The study has 12 finished trials." in text
    assert "the design is the centre of the space and a Latin hypercube" in text
    assert "The seed of the search was 3, and trials were suggested one at a time." in text
    assert "The value of the objective was minimised. A repeated evaluation gave the same value" in text
    assert f"{best.value:.4g} in trial {best.number}, is recommended (Table 2): `x` = {best.params['x']:.4g}" in text
    assert "NumPy " + study.about["versions"]["numpy"] in text
    assert section.space["range"].tolist() == ["0 to 1", "a, b"]
    assert section.results["value"].tolist() == [best.value]
    assert section.results["trial"].tolist() == [str(best.number)]


@pytest.mark.parametrize("search", ["kriging", "cmaes", "vns", "random", "lbfgsb", "koch2011"])
def test_origins_add_up(search):
    study = Study(SPACE, search, seed=0).run(square, n_trials=15)
    counts = Counter(t.origin for t in study.trials)
    sentence = re.search(r"Of the trials (.*?)[.;]", str(study.methods_section()))[1]
    assert [int(n) for n in re.findall(r"\b\d+\b", sentence)] == list(counts.values())
    assert "came from" not in sentence


def test_a_noisy_study_that_maximises():
    study = Study({"x": (0.0, 1.0)}, seed=0, direction="maximize").run(noisy(0), n_trials=20)
    best, text = study.recommend(), str(study.methods_section())
    assert best.basis == "predicted"
    assert study.methods_section().results["low"][0] == pytest.approx(best.value - 1.96 * best.standard_error, rel=1e-3)
    assert "The value of the objective was maximised. Repeated evaluations of one configuration differed" in text
    assert f"{best.value:.4g} with a standard error of {best.standard_error:.2g}" in text
    assert f"it was evaluated {best.n_evaluations} times" in text
    assert f"The best value seen is {best.best_seen_value:.4g}, in trial {best.best_seen_number}." in text
    assert study.methods_section().results["what"].tolist() == [
        "recommended",
        *["best seen"] * (best.number != best.best_seen_number),
    ]


@pytest.mark.parametrize(("noise", "words"), [(True, "taken to differ"), (False, "taken to be equal"), ("auto", "unknown")])
def test_what_is_known_of_the_noise(noise, words):
    study = Study({"x": (0.0, 1.0)}, "random", seed=0, noise=noise).run(noisy(0), n_trials=4)
    assert words in str(study.methods_section())


def test_failures_bounds_and_constraints():
    def fails(params):
        if params["x"] > 0.7:
            raise ValueError("too far")
        return {"value": square(params), "load": params["x"]}

    constraints = [lambda p: p["x"] > 0.05, {"load": ("<=", 0.5)}]
    study = Study({"x": (0.0, 1.0)}, seed=1, constraints=constraints).run(fails, n_trials=15, max_failures=None)
    text = str(study.methods_section())
    failed = sum(t.state == "failed" for t in study.trials)
    out = sum(t.extra.get("bounds_held") == 0 for t in study.trials)
    assert failed > 0 < out
    assert f"Of the configurations {failed} failed, without a value ({failed} x ValueError: too far" in text
    assert "[@gelbart2014]" in text
    assert f"Of the configurations {out} did not hold the bounds." in text
    assert "subject to `<lambda>` and `load <= 0.5`" in text


def test_a_study_without_a_success():
    study = Study({"x": (0.0, 1.0)}, "random", seed=1).run(lambda p: float("nan"), n_trials=3, max_failures=None)
    section = study.methods_section()
    assert "There is no recommended configuration: no trial has succeeded yet" in str(section)
    assert section.results.empty
    assert "Table 2" in section.markdown()
    assert "\\end{table}" in section.latex()


def test_before_the_first_trial():
    assert "The study has 0 finished trials." in str(Study(SPACE).methods_section())


def test_trials_that_ended_early_run_or_were_given():
    def steps(params, trial):
        for step in range(1, 6):
            trial.report(step, params["x"] + 1 / step)
            if trial.should_stop():
                return None
        return params["x"]

    study = Study({"x": (0.0, 1.0)}, "random", seed=0, start=[{"x": 0.1}])
    study.add_trial({"x": 0.2}, 0.2)
    study.run(steps, n_trials=20, early_stopping="median")
    study.ask()
    stopped, text = study.status().n_stopped, str(study.methods_section())
    assert stopped > 0
    assert f"Of the trials {stopped} ended early, by the steps reported until then." in text
    assert "Trials without a result when this was written: 1." in text
    assert "1 was evaluated elsewhere and added, 1 was a starting point" in text


def test_batches_and_workers():
    assert "in batches of 4 [@ginsbourger2010]." in str(Study(SPACE, seed=0).run(square, 8, batch_size=4).methods_section())
    mixed = Study(SPACE, "random", seed=0).run(square, 4, batch_size=4).run(square, 8)
    assert "another run gives other trials" in str(mixed.methods_section())


def test_a_prior_and_a_search_of_ones_own():
    guided = Study({"x": (0.0, 1.0)}, seed=0, prior={"x": norm(0.3, 0.1)}).run(square, n_trials=3)
    assert "prior of the optimum, whose weight falls with the evaluations [@hvarfner2022]" in str(guided.methods_section())
    own = Study({"x": (0.0, 1.0)}, lambda domain, seed: KrigingSearch(domain, seed, n_initial=4), seed=0).run(square, n_trials=5)
    first = own.methods_section().paragraphs[0]
    assert f"tuned by the search `{own.about['search']}`, as implemented" in first
    assert "jones1998" not in own.methods_section().references


def test_several_objectives():
    study = Study({"x": (0.0, 1.0)}, seed=0, direction={"cost": "minimize", "gain": "maximize"})
    study.run(lambda p: {"values": [p["x"], p["x"] ** 2]}, n_trials=10)
    section = study.methods_section()
    assert "Of 2 objectives `cost` was minimised and `gain` was maximised." in str(section)
    assert f"{len(study.pareto())} configurations of 10 are not dominated by another one (Table 2)." in str(section)
    assert section.results["trial"].tolist() == [t.number for t in study.pareto()]
    assert "knowles2006" in section.references


def test_a_record_gives_the_same_section(tmp_path):
    study = Study(SPACE, seed=0, path=tmp_path / "a.db").run(square, n_trials=8)
    study.close()
    assert str(load_study(tmp_path / "a.db").methods_section()) == str(study.methods_section())


def test_a_search_with_sweeps():
    search = SpotSearchCV(SVM, SVM_SPACE, n_iter=8, random_state=0).fit(X, y)
    assert str(search.methods_section()) == str(search.methods_section(search.expected_score_))
    search.set_params(keep_out_of_fold=False).fit(X, y)
    section, n = search.methods_section(), len(search.cv_results_["params"])
    text = str(section)
    assert f"8 finished trials, each of which was scored with several values of `svc__C` that share their work: {n} con" in text
    assert "the mean of the estimator's own score of `Pipeline(steps=" in text
    assert "over 5 folds of cross-validation, the same for all configurations" in text
    assert f"best of {n} configurations on the same folds" in text
    assert "was not estimated" in text
    assert (
        f"single best configuration, `svc__C` = {search.best_params_['svc__C']:.4g} and `svc__gamma` = "
        f"{search.best_params_['svc__gamma']:.4g}, fitted on all rows."
    ) in text
    assert section.results["what"].tolist()[0] == "starting point"
    assert section.results["score"].tolist() == [search.study_.trials[0].value, search.best_score_]

    expected = expected_score(search, X, y)
    text = str(search.methods_section(expected))
    low, high = expected.interval
    assert f"The accuracy to expect on new rows is {expected.value:.4g} (95 % interval {low:.4g} to {high:.4g})" in text
    assert f"by {expected.n_rows} training rows out of fold" in text
    assert "each of 200 draws made the choice among the configurations again on the drawn rows" in text
    assert "was not estimated" not in text
    assert search.methods_section(expected).results.loc[:, "score":"high"].values.tolist()[-1] == [expected.value, low, high]
    assert "low and high are the ends of 95 % intervals" in search.methods_section(expected).markdown()


def test_an_error_is_shown_in_its_own_unit():
    X, y = (part[:150] for part in load_diabetes(return_X_y=True))
    estimator = make_pipeline(StandardScaler(), SVR())
    space = {"svr__C": loguniform(1, 1000), "svr__gamma": loguniform(1e-3, 1)}
    scoring = "neg_root_mean_squared_error"
    search = SpotSearchCV(estimator, space, n_iter=4, scoring=scoring, random_state=0).fit(X, y)
    expected = expected_score(search, X, y)
    section = search.methods_section(expected)
    text = str(section)
    assert "The value that was minimised is the mean of the RMSE of" in text
    assert f"The configuration with the best RMSE seen, {-search.best_score_:.4g} in trial" in text
    assert f"The RMSE to expect on new rows is {-expected.value:.4g} (95 %" in text
    assert f"(95 % interval {-expected.interval[1]:.4g} to {-expected.interval[0]:.4g})" in text
    assert (section.results["RMSE"] > 0).all()
    results = section.results.set_index("what")
    assert results["low"]["to expect on new rows"] == -expected.interval[1]
    assert results["RMSE"].tolist()[-2:] == [-search.default_score_.value, -search.constant_score_.value]
    assert "no comparison with another model" not in text


def test_a_metric_whose_choice_was_not_drawn_again():
    def own(estimator, X, y):
        return float((estimator.predict(X) == y).mean())

    search = SpotSearchCV(SVM, SVM_SPACE, n_iter=3, scoring=own, random_state=0).fit(X, y)
    text = str(search.methods_section(expected_score(search, X, y)))
    assert "but not the choice" in text
    assert "tsamardinos" not in text


def test_what_was_refitted():
    average = SpotSearchCV(SVM, SVM_SPACE, n_iter=4, refit="average", calibrate=True, random_state=0).fit(X, y)
    text = str(average.methods_section())
    weights = average.cv_results_["weight"]
    assert f"weighted average of {np.count_nonzero(weights)} of the ten best configurations, fitted on all 150 rows" in text
    assert f"weights {weights.max():.2g}" in text
    assert f"The accuracy to expect on new rows is {average.expected_score_.value:.4g} (95 %" in text
    assert "[@lacoste2014]" in text
    assert "[@platt1999]" in text
    simple = SpotSearchCV(SVM, SVM_SPACE, n_iter=4, refit="1se", rows=100, random_state=0).fit(X, y)
    text = str(simple.methods_section())
    assert "the simplest whose mean score is at most one standard error below the best" in text
    assert f"`svc__C` = {simple.best_params_['svc__C']:.4g}" in text
    assert "seen 100 of them" in text


def test_a_pool_of_few_candidates_and_rows_that_are_all():
    plain = make_pipeline(StandardScaler(), LogisticRegression())
    space = {"logisticregression__C": [0.1, 1.0, 10.0]}
    text = str(SpotSearchCV(plain, space, n_iter=3, refit="average", rows=1000, random_state=0).fit(X, y).methods_section())
    assert re.search(r"(average of [123]|is one) of 3 configurations, fitted on all 150 rows", text)


@pytest.mark.parametrize("method", ["folds", "nested"])
def test_how_optimistic_the_score_is(method):
    search = SpotSearchCV(SVM, SVM_SPACE, n_iter=3, cv=3, random_state=0).fit(X, y)
    found = oversearching(search, X, y, outer=3, method=method, random_state=0)
    text = str(search.methods_section(found))
    assert f"too {'good' if found.optimism >= 0 else 'bad'} by {abs(found.optimism):.4g}" in text
    assert f"on new rows {found.expected_score.value:.4g} is to be expected" in text
    assert ("tibshirani2009" in text) == (method == "folds")
    search.study_.add_finding("oversearching", found.to_dict())
    assert f"by {abs(found.optimism):.4g}" in str(search.study_.methods_section())


@pytest.mark.parametrize("search", ["kriging", "random"])
def test_an_estimate_that_is_none(search):
    with pytest.raises(
        ArgumentError, match="luck=0.9 is no estimate; use the result of expected_score or oversearching, or None"
    ):
        Study(SPACE, search).methods_section(0.9)


@pytest.mark.parametrize("kind", [TunedSVC, TunedSVR])
def test_a_tuned_model(kind):
    rows, target = (X, y) if kind is TunedSVC else (part[:150] for part in load_diabetes(return_X_y=True))
    model = kind(random_state=5).fit(rows, target)
    section = model.methods_section()
    text = str(section)
    low, high = model.expected_score_.interval
    assert f"{len(model.settings_)} configurations with Gaussian kernels" in text
    assert f"to expect on new rows is {model.expected_score_.value:.4g} (95 % interval {low:.4g} to {high:.4g})" in text
    scaled = "" if kind is TunedSVC else ", with a target scaled to mean 0 and variance 1"
    assert f"on standardised numbers{scaled}, is {model.default_score_.value:.4g} (95 %" in text
    assert f" {model.constant_score_.value:.4g} (Table 2)" in text
    assert model.verdict_.sentence in text
    assert f"average of {len(model.members_)} of {len(model.settings_)} configurations, fitted on 150 rows" in text
    assert "5 folds of cross-validation on 150 rows" in text
    assert "The seed was 5." in text
    assert "Kriging" not in text
    assert ("platt1999" in text, "caruana2004" in text) == (kind is TunedSVC, kind is TunedSVR)
    assert section.results.iloc[:, 1].tolist() == [
        model.expected_score_.value,
        model.default_score_.value,
        model.constant_score_.value,
    ]
    assert section.space["parameter"].tolist() == ["family", "width", "C", *["epsilon", "target"] * (kind is TunedSVR)]


def test_a_tuned_model_with_a_search_groups_and_a_single_setting():
    groups = np.arange(150) // 3
    model = TunedSVC(budget=19, average=False, random_state=0).fit(X, y, groups=groups)
    text = str(model.methods_section())
    assert "Of 19 kernels, each scored with a series of values of C, 17 are those of a fixed grid, and 2 were proposed" in text
    assert f"The final model is the single best configuration, `family` = {model.best_params_['family']}" in text
    assert "5 folds of whole groups" in text
    assert "The groups were drawn again" in text
    assert "3 folds of whole groups" in str(
        TunedSVC(families=["rbf"], cv=GroupKFold(3)).fit(X, y, groups=groups).methods_section()
    )
    thirds = [(np.flatnonzero(np.arange(150) % 3 != k), np.arange(k, 150, 3)) for k in range(3)]
    assert "3 folds of cross" in str(TunedSVC(families=["rbf"], cv=thirds).fit(X, y, groups=groups).methods_section())


def test_a_tuned_model_of_many_rows(monkeypatch):
    monkeypatch.setattr("spotsvm.tuned.training_rows._HELD_FROM", 400)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    model = TunedSVC(families=["rbf"], random_state=0).fit(X, X[:, 0] + rng.normal(size=400) > 0)
    held = int(np.isfinite(model.oof_decision_function_).sum())
    text = str(model.methods_section())
    assert f"by 5 folds of cross-validation on {model.fit_facts_.n_grid_rows} rows. The best were fitted on" in text
    assert f"on up to {model.n_rows_} rows, and judged on {held} rows that were held out" in text


def test_the_formats():
    study = Study({"svc__C_%": (0.0, 1.0)}, "random", seed=0).run(lambda p: p["svc__C_%"], n_trials=3)
    section = study.methods_section()
    latex, best = section.latex(), study.best_trial
    assert "The parameter \\texttt{svc\\_\\_C\\_\\%} (Table~\\ref{tab:space}) was tuned by random search" in latex
    assert "\\cite{spotsvm}" in latex
    assert latex.count("\\begin{tabular}") == latex.count("\\toprule") == 2
    assert re.findall(r"\\label\{tab:(\w+)\}", latex) == ["space", "results"]
    assert f"|       {best.number} |" in section.markdown()
    assert re.findall(r"^@\w+\{(\w+),", section.bibtex, flags=re.M) == ["spotsvm"]
    assert version("spotsvm") in section.bibtex
    assert repr(section) == str(section)


def test_the_random_search_as_a_class_is_named():
    assert "the search `" in Study(SPACE, RandomSearch, seed=0).methods_section().paragraphs[0]


def test_a_tuning_with_a_verdict():
    """As `spotsvm tune --model svm` leaves it: its sentences and its table stand in the place of the best trial's."""
    study, verdict = tuned()
    section = study.methods_section()
    text = str(section)
    assert verdict.sentence in text
    assert verdict.expectation in text
    assert "holds no comparison" not in text
    assert section.results["model"].tolist() == ["always 'red'", "default", "tuned (recommended)", "a random forest"]
    assert section.results["held-out"].tolist() == [0.51, 0.7011, 0.7533, 0.74]
    assert "Table 2: Results; low and high are the ends of 95 % intervals." in section.markdown()
