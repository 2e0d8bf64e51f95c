import pickle
from copy import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.special import expit
from scipy.stats import loguniform, uniform
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC

from spotsvm import CutoffClassifier, ExactSVC, MultiKernelSVC, SpotSearchCV
from spotsvm.errors import ArgumentError

MANY = make_classification(
    n_samples=300, n_features=6, n_informative=4, n_classes=5, n_clusters_per_class=1, flip_y=0.2, random_state=0
)
TWO = make_classification(n_samples=200, n_features=6, flip_y=0.2, random_state=0)
NEW = np.random.default_rng(1).normal(size=(500, 6))
WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)


@pytest.mark.parametrize("data", [TWO, MANY], ids=["two", "many"])
@pytest.mark.parametrize("cutoff", [None, "all", "all but one", "dict"])
def test_equal_cutoffs_and_weights_leave_the_machine_as_it_is(data, cutoff):
    X, y = data
    n = len(np.unique(y))
    cutoffs = {None: None, "all": [1 / n] * n, "all but one": np.full(n - 1, 1 / n), "dict": dict.fromkeys(range(n), 1 / n)}
    plain = SVC(break_ties=n > 2).fit(X, y)
    ours = CutoffClassifier(SVC(), cutoff=cutoffs[cutoff], class_weight=[1] * n).fit(X, y)
    np.testing.assert_array_equal(ours.predict(NEW), plain.predict(NEW))
    if n == 2:
        np.testing.assert_allclose(ours.decision_function(NEW), plain.decision_function(NEW), atol=1e-12)


def rule(shares, cutoff):
    """R's: the largest ratio of the share of votes to the cutoff."""
    return np.argmax(shares / np.asarray(cutoff), axis=1)


def test_random_forests_are_cut_off_as_in_r():
    X, y = MANY
    cutoff = [0.1, 0.3, 0.2, 0.15, 0.25]
    plain = RandomForestClassifier(50, random_state=0)
    ours = CutoffClassifier(plain, cutoff=cutoff).fit(X, y)
    shares = plain.fit(X, y).predict_proba(NEW)
    np.testing.assert_array_equal(ours.vote_shares(NEW), shares)
    np.testing.assert_array_equal(ours.predict(NEW), rule(shares, cutoff))
    assert ours.response_method_ == "predict_proba"
    assert (ours.predict(NEW) != plain.predict(NEW)).mean() > 0.1


def hand_votes(X, y, soft):
    """Votes of an SVC for each pair of classes, trained one by one."""
    classes = np.unique(y)
    votes, sums = np.zeros((2, len(NEW), len(classes)))
    for i in range(len(classes)):
        for j in range(i + 1, len(classes)):
            two = np.isin(y, [i, j])
            first = -SVC(gamma=0.2).fit(X[two], y[two]).decision_function(NEW)
            votes[:, i] += expit(first) if soft else first > 0
            votes[:, j] += expit(-first) if soft else first <= 0
            sums[:, i] += first
            sums[:, j] -= first
    return votes, sums


@pytest.mark.parametrize("machine", [SVC, ExactSVC])
def test_votes_of_pairs(machine):
    X, y = MANY
    votes, sums = hand_votes(X, y, soft=False)
    ours = CutoffClassifier(machine(gamma=0.2, tol=1e-6)).fit(X, y)
    assert ours.response_method_ == "votes"
    shares = ours.vote_shares(NEW)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    # a third of a vote at most comes from the decisions' sizes, so an order by votes stays one
    apart = votes[:, :, None] > votes[:, None, :]
    assert (shares[:, :, None] > shares[:, None, :])[apart].all()
    tied = (votes[:, :, None] == votes[:, None, :]) & (sums[:, :, None] > sums[:, None, :] + 1e-3) & (votes[:, :, None] > 0)
    assert (shares[:, :, None] > shares[:, None, :])[tied].all()
    cutoff = [0.05, 0.2, 0.3, 0.3, 0.15]
    cut = CutoffClassifier(machine(gamma=0.2, tol=1e-6), cutoff=cutoff).fit(X, y)
    np.testing.assert_array_equal(cut.predict(NEW), rule(shares, cutoff))


def test_soft_votes_of_pairs():
    X, y = MANY
    ours = CutoffClassifier(SVC(gamma=0.2), response_method="soft_votes", cutoff=[0.05, 0.2, 0.3, 0.3]).fit(X, y)
    shares = hand_votes(X, y, soft=True)[0] / 10
    np.testing.assert_allclose(ours.vote_shares(NEW), shares, atol=1e-3)
    assert (ours.predict(NEW) == rule(shares, [0.05, 0.2, 0.3, 0.3, 0.15])).mean() > 0.99


def test_two_classes_move_the_threshold():
    X, y = TWO
    plain = SVC().fit(X, y)
    ours = CutoffClassifier(SVC(), cutoff=[0.8]).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(NEW), plain.decision_function(NEW) - np.log(0.2 / 0.8))
    np.testing.assert_array_equal(ours.predict(NEW), rule(ours.vote_shares(NEW), [0.8, 0.2]))
    proba = CutoffClassifier(LogisticRegression(), cutoff=[0.8]).fit(X, y)
    np.testing.assert_array_equal(proba.predict(NEW), LogisticRegression().fit(X, y).predict_proba(NEW)[:, 1] > 0.2)


FITTED = CutoffClassifier(SVC()).fit(*MANY)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.floats(0.01, 1.0), min_size=5, max_size=5), st.integers(0, 4), st.floats(1.01, 20.0))
def test_a_smaller_cutoff_never_costs_a_class_rows(sizes, which, factor):
    def predicted(cutoff):
        machine = copy(FITTED)
        machine.cutoff_ = cutoff / cutoff.sum()
        np.testing.assert_array_equal(machine.predict(NEW), rule(FITTED.vote_shares(NEW), machine.cutoff_))
        return machine.predict(NEW) == which

    smaller = np.array(sizes)
    smaller[which] /= factor
    assert (predicted(np.array(sizes)) <= predicted(smaller)).all()


@pytest.mark.parametrize("machine", [SVC(), ExactSVC(), MultiKernelSVC(), make_pipeline(StandardScaler(), SVC())])
@pytest.mark.parametrize("weights", [[0.3, 1.0, 2.0], {0: 0.3, "2": 2.0}, "balanced"], ids=["list", "dict", "balanced"])
def test_weights_are_the_machine_s_class_weight(machine, weights):
    X, y = WINE, np.where(CULTIVAR == 2, 1, CULTIVAR)
    y[::7] = 2
    ours = CutoffClassifier(machine, class_weight=weights).fit(X, y)
    own = weights if weights == "balanced" else {0: 0.3, 1: 1.0, 2: 2.0}
    prefix = "svc__" if hasattr(machine, "steps") else ""
    plain = clone(machine).set_params(**{f"{prefix}class_weight": own, f"{prefix}break_ties": True}).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), plain.predict(X))
    if weights != "balanced":
        assert ours.class_weight_.tolist() == [0.3, 1.0, 2.0]
    assert (ours.predict(X) != clone(machine).fit(X, y).predict(X)).any()


@pytest.mark.parametrize("weights", [None, {}, [1.0, 1.0, 1.0]], ids=["none", "empty", "ones"])
def test_balanced_is_the_unit_of_the_weights(weights):
    X, y = WINE, np.where(CULTIVAR == 2, 1, CULTIVAR)
    y[::7] = 2
    plain = SVC(class_weight="balanced", break_ties=True).fit(X, y)
    ours = CutoffClassifier(SVC(), class_weight=weights, weight_unit="balanced", classes=[0, 1, 2, 3] if not weights else None)
    np.testing.assert_array_equal(ours.fit(X, y).predict(X), plain.predict(X))
    np.testing.assert_allclose(ours.class_weight_[:3], plain.class_weight_)
    assert ours.class_weight_[3:].tolist() == ([] if weights else [1.0])
    ours.set_params(class_weight={1: 0.25}, weight_unit=None).set_params(weight_unit="balanced").fit(X, y)
    np.testing.assert_allclose(ours.class_weight_[:3], plain.class_weight_ * [1.0, 0.25, 1.0])


def test_the_balanced_unit_counts_weights_of_rows():
    """A row of weight 2 is two rows."""
    X, y = MANY
    times = np.random.default_rng(0).integers(1, 4, len(y))
    machine = CutoffClassifier(LogisticRegression(C=0.01, tol=1e-8), class_weight={4: 2.0}, weight_unit="balanced")
    weighted, repeated = clone(machine).fit(X, y, sample_weight=times), machine.fit(np.repeat(X, times, 0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.class_weight_, repeated.class_weight_)
    np.testing.assert_allclose(weighted.vote_shares(NEW), repeated.vote_shares(NEW), atol=1e-4)


def test_weights_of_rows_where_there_are_none_of_classes():
    X, y = MANY
    weights = [0.1, 1, 5, 1, 2]
    ours = CutoffClassifier(GaussianNB(), class_weight=weights).fit(X, y)
    plain = GaussianNB().fit(X, y, sample_weight=np.take(weights, y))
    np.testing.assert_array_equal(ours.vote_shares(NEW), plain.predict_proba(NEW))
    own = np.linspace(0, 1, len(y))
    both = CutoffClassifier(make_pipeline(StandardScaler(), GaussianNB()), class_weight=weights).fit(X, y, sample_weight=own)
    plain = make_pipeline(StandardScaler(), GaussianNB()).fit(X, y, gaussiannb__sample_weight=np.take(weights, y) * own)
    np.testing.assert_array_equal(both.vote_shares(NEW), plain.predict_proba(NEW))


def test_metadata_routing():
    X, y = TWO
    weights = np.linspace(0.1, 2, len(y))
    plain = SVC().fit(X, y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        asked = SVC().set_fit_request(sample_weight=True)
        for machine in (asked, make_pipeline(asked)):
            ours = CutoffClassifier(machine).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
            np.testing.assert_array_equal(ours.fit(X, y, sample_weight=weights).decision_function(X), plain.decision_function(X))
            search = SpotSearchCV(ours, {"excess": ["raise", "scale"]}, n_iter=1, search="random", cv=2)
            search.fit(X, y, sample_weight=weights)
            np.testing.assert_array_equal(search.decision_function(X), plain.decision_function(X))
        weighted = CutoffClassifier(make_pipeline(GaussianNB().set_fit_request(sample_weight=True)), class_weight=[0.2, 1.0])
        by_rows = GaussianNB().fit(X, y, sample_weight=np.where(y == 0, 0.2, 1.0))
        np.testing.assert_array_equal(weighted.fit(X, y).vote_shares(X), by_rows.predict_proba(X))


@pytest.mark.parametrize(
    "names",
    [["a", "b", "c"], ["1", "2", "10"], [1.0, 2.0, 3.0], [-1, 5, 7], [False, True]],
    ids=["text", "digits", "floats", "ints", "bool"],
)
def test_classes_of_any_kind(names):
    n = len(names)
    X, y = TWO if n == 2 else (WINE, CULTIVAR)
    labels = np.unique(names)[y]
    weights, cutoffs = {str(names[0]): 0.2}, {names[-1]: 0.7}
    ours = CutoffClassifier(SVC(), class_weight=weights, cutoff=cutoffs).fit(X, labels)
    order = [str(c) for c in np.unique(names).tolist()]
    assert ours.class_weight_[order.index(str(names[0]))] == 0.2
    assert ours.cutoff_[order.index(str(names[-1]))] == 0.7
    assert ours.cutoff_.sum() == pytest.approx(1)
    assert ours.classes_.tolist() == np.unique(names).tolist()
    numbered = CutoffClassifier(SVC(), class_weight=ours.class_weight_, cutoff=ours.cutoff_).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), np.unique(names)[numbered.predict(X)])


def test_entries_one_by_one():
    machine = CutoffClassifier(SVC())
    assert machine.set_params(cutoff__lean=0.3, class_weight__fat=2.0, estimator__C=7.0) is machine
    first = machine.cutoff
    assert (machine.cutoff, machine.class_weight, machine.estimator.C) == ({"lean": 0.3}, {"fat": 2.0}, 7.0)
    machine.set_params(cutoff__lean=0.2, cutoff__fat=0.5)
    assert machine.cutoff == {"lean": 0.2, "fat": 0.5}
    assert first == {"lean": 0.3}
    params = machine.get_params()
    assert {name: params[name] for name in params if name.startswith(("cutoff_", "class_weight_"))} == {
        "cutoff__lean": 0.2,
        "cutoff__fat": 0.5,
        "class_weight__fat": 2.0,
    }
    assert clone(machine).get_params()["cutoff__fat"] == 0.5
    assert "cutoff__fat" not in machine.get_params(deep=False)
    assert make_pipeline(machine).set_params(cutoffclassifier__cutoff__fat=0.4)[0].cutoff["fat"] == 0.4
    # a class may have the parts of a parameter's name in its own
    assert machine.set_params(cutoff__a__b=0.1).cutoff["a__b"] == 0.1


def test_entries_of_what_was_a_sequence():
    machine = CutoffClassifier(SVC(), classes=["a", "b", "c"], cutoff=(0.2, 0.3), class_weight=np.array([1.0, 2.0, 3.0]))
    machine.set_params(cutoff__a=0.4, class_weight__c=5.0)
    assert machine.cutoff == {"a": 0.4, "b": 0.3}
    assert machine.class_weight == {"a": 1.0, "b": 2.0, "c": 5.0}
    with pytest.raises(ArgumentError, match="cutoff__d is not a parameter; there are cutoff__a, cutoff__b, cutoff__c"):
        machine.set_params(cutoff__d=0.1)
    with pytest.raises(ArgumentError, match=r"cutoff__a cannot be set in cutoff=\[0.2, 0.3\]; use a dict"):
        CutoffClassifier(SVC(), cutoff=[0.2, 0.3]).set_params(cutoff__a=0.1)
    with pytest.raises(ArgumentError, match="class_weight__a cannot be set in class_weight='balanced'"):
        CutoffClassifier(SVC(), class_weight="balanced").set_params(class_weight__a=0.1)


def test_a_search_tunes_entries(tmp_path):
    names = ["low", "middle", "high"]
    y = np.array(names)[CULTIVAR]
    space = {"estimator__C": loguniform(0.1, 10)}
    space |= {f"class_weight__{name}": uniform(0.05, 0.95) for name in names}
    space |= {f"cutoff__{name}": uniform(0.01, 0.6) for name in names[:2]}
    machine = CutoffClassifier(SVC(), classes=names, excess="scale")
    search = SpotSearchCV(machine, space, n_iter=8, search="random", cv=3, random_state=0, path=tmp_path / "run.db").fit(WINE, y)
    best = search.best_estimator_
    assert best.class_weight == {name: search.best_params_[f"class_weight__{name}"] for name in names}
    assert best.cutoff == {name: search.best_params_[f"cutoff__{name}"] for name in names[:2]}
    again = clone(machine).set_params(**search.best_params_)
    assert cross_val_score(again, WINE, y, cv=3).mean() == pytest.approx(search.best_score_)
    resumed = SpotSearchCV(machine, space, n_iter=8, search="random", cv=3, random_state=0, path=tmp_path / "run.db").fit(WINE, y)
    assert resumed.best_params_ == search.best_params_


def test_a_class_that_a_fold_lacks_gets_no_vote():
    X, y = MANY
    fewer = y != 3
    weights = {k: 0.5 + k for k in range(5)}
    for method in ("votes", "soft_votes", "decision_function"):
        ours = CutoffClassifier(SVC(), classes=range(5), class_weight=weights, cutoff=[0.1] * 4, response_method=method)
        ours.fit(X[fewer], y[fewer])
        assert ours.classes_.tolist() == [0, 1, 2, 3, 4]
        assert not ours.vote_shares(NEW)[:, 3].any()
        assert ours.decision_function(NEW).shape == (len(NEW), 5)
        assert set(ours.predict(NEW)) <= {0, 1, 2, 4}
    two = np.isin(y, [1, 4])
    plain = SVC(class_weight=weights).fit(X[two], y[two])
    ours = CutoffClassifier(SVC(), classes=range(5), class_weight=weights).fit(X[two], y[two])
    np.testing.assert_array_equal(ours.predict(NEW), plain.predict(NEW))


def test_the_paper_s_best_cutoffs():
    """Table 8: with the fifth they sum to 1.195, so that the sum constraint of the text cannot be that they sum to 1."""
    X, y = MANY
    printed = [0.216, 0.023, 0.335, 0.389, 0.232]
    assert sum(printed) == pytest.approx(1.195)
    with pytest.raises(ArgumentError, match=r"sums to 1\.195; use cutoffs that sum to 1 at most, or excess='scale'"):
        CutoffClassifier(SVC(), cutoff=printed).fit(X, y)
    ours = CutoffClassifier(SVC(), cutoff=printed, excess="scale").fit(X, y)
    np.testing.assert_allclose(ours.cutoff_, np.array(printed) / 1.195)
    np.testing.assert_array_equal(ours.predict(NEW), rule(FITTED.vote_shares(NEW), printed))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cutoff": [0.5, 0.6]}, "sums to 1.1, which leaves nothing to the other classes; use .* that sum to less than 1"),
        ({"cutoff": [0.5, 0.4, 0.3]}, "sums to 1.2; use cutoffs that sum to 1 at most"),
        ({"cutoff": [0.5, 0.0]}, r"cutoff of the class 1 is 0\.0; use a cutoff above 0"),
        ({"cutoff": [0.5, "0.1"]}, "cutoff of the class"),
        ({"cutoff": [0.5]}, r"cutoff has shape \(1,\); use 2 or 3 numbers, for the classes 0, 1, 2. .* classes="),
        ({"cutoff": 0.5}, r"cutoff=0\.5; use a dict from classes to numbers, or a number for each of 0, 1, 2"),
        ({"cutoff": "balanced"}, "cutoff='balanced'; use a dict"),
        ({"cutoff": {7: 0.5}}, "cutoff names the class '7', which is not among 0, 1, 2. .* classes="),
        ({"cutoff": {0: 0.5, "0": 0.4}}, "cutoff has two entries for the class '0'; keep one"),
        ({"class_weight": [1, 2]}, r"class_weight has shape \(2,\); use 3 numbers, for the classes 0, 1, 2"),
        ({"class_weight": [1, 2, 0]}, r"class_weight of the class 2 is 0\.0; use a positive, finite weight"),
        ({"class_weight": {"fat": 1}}, "class_weight names the class 'fat', which is not among 0, 1, 2"),
        ({"class_weight": "equal"}, "class_weight='equal'; use a dict"),
        ({"classes": [0, 1]}, "y holds the class 2, which is not among classes=0, 1"),
        ({"classes": [1]}, r"classes=\[1\]; use a sequence of two classes or more"),
        ({"weight_unit": "even"}, "weight_unit='even'; use 'balanced' or None"),
        ({"class_weight": "balanced", "weight_unit": "balanced"}, "class_weight='balanced' cannot be combined with weight_unit"),
        ({"excess": "cut"}, "excess='cut'; use 'raise' or 'scale'"),
        ({"response_method": "vote"}, "response_method='vote'; use 'auto', 'votes', 'soft_votes', 'predict_proba' or"),
        ({"response_method": "predict_proba"}, "SVC does not have .*; it has 'votes', 'soft_votes', 'decision_function'"),
        ({"estimator": KNeighborsClassifier(), "response_method": "votes"}, "KNeighborsClassifier does not have this response"),
        ({"estimator": SVC(class_weight="balanced"), "class_weight": [1, 1, 1]}, "the estimator has its own class_weight"),
        ({"estimator": KNeighborsClassifier(), "class_weight": [1, 2, 3]}, "KNeighborsClassifier has neither class_weight"),
    ],
)
def test_a_parameter_that_makes_no_sense(options, message):
    with pytest.raises(ArgumentError, match=message):
        CutoffClassifier(**{"estimator": SVC(), **options}).fit(WINE, CULTIVAR)


@pytest.mark.parametrize("classes", [None, [0, 1, 2]])
def test_one_class_is_too_few(classes):
    one = CULTIVAR == 1
    with pytest.raises(ArgumentError, match=r"y holds the one class 1.*; two classes or more are needed"):
        CutoffClassifier(SVC(), classes=classes).fit(WINE[one], CULTIVAR[one])


def test_pandas_sparse_and_pickle():
    X, y = (
        pd.DataFrame(WINE, columns=[f"w{i}" for i in range(13)]),
        pd.Series(np.array(["x", "y", "z"])[CULTIVAR], dtype="category"),
    )
    ours = CutoffClassifier(make_pipeline(StandardScaler(), SVC()), cutoff={"x": 0.6}).fit(X, y)
    assert ours.feature_names_in_.tolist() == X.columns.tolist()
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.predict(X), ours.predict(X))
    ours.fit(WINE, y)
    assert not hasattr(ours, "feature_names_in_")
    dense = CutoffClassifier(SVC(gamma="auto")).fit(WINE, y)
    sparse = CutoffClassifier(SVC(gamma="auto")).fit(csr_matrix(WINE), y)
    assert (sparse.predict(csr_matrix(WINE)) == dense.predict(WINE)).all()


def test_the_estimator_is_not_changed():
    machine = SVC(decision_function_shape="ovr", break_ties=True)
    before = machine.get_params()
    CutoffClassifier(machine, class_weight=[1, 2, 3]).fit(WINE, CULTIVAR)
    assert machine.get_params() == before
    assert not hasattr(machine, "support_")
