"""What `spotsvm tune` prints, its files and its record say the same, of a table with much to gain and of pure noise."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from installed_command import main
from sklearn.svm import SVC

from spotsvm import load_study
from spotsvm.luck.verdict import Verdict
from spotsvm.tuning.saved import load_model, machine_parameters

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"


def board(rng, n):
    X = rng.uniform(0, 4, size=(n, 2))
    return X, X.astype(int).sum(axis=1) % 2


def noise(rng, n):
    return rng.normal(size=(n, 3)), rng.integers(0, 2, n)


@pytest.fixture(scope="module", params=[board, noise], ids=["much to gain", "noise"])
def tuned(request, tmp_path_factory, no_pictures_here):
    """Return the name of the data, what was printed, and the folder."""
    folder = tmp_path_factory.mktemp("numbers")
    X, y = request.param(np.random.default_rng(4), 240)
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]).assign(kind=np.where(y == 1, "odd", "even"))
    frame.to_csv(folder / "t.csv", index=False)
    args = ["tune", folder / "t.csv", "--target", "kind", "--model", "svm", "--trials", 8, "--search", "random", "--cv", 4]
    args += ["--out", folder / "out"]
    result = CliRunner().invoke(main, [str(a) for a in args])
    assert result.exit_code == 0, result.stderr
    return request.param.__name__, result.stdout, folder / "out"


def said(pattern, text):
    """Return the numbers of the only place where a text has this pattern."""
    found = re.findall(pattern.replace("#", f"({NUMBER})"), " ".join(text.split()))
    assert len(found) == 1, (pattern, found)
    return [float(number) for number in (found[0] if isinstance(found[0], tuple) else found)]


def printed(value, digits):
    return pytest.approx(value, abs=0.51 * 10.0**-digits)


def test_the_verdict_is_the_same_everywhere(tuned):
    name, text, out = tuned
    study = load_study(out / "random.db")
    verdict = Verdict.from_dict(study.findings["verdict"])
    assert " ".join(verdict.sentence.split()) in " ".join(text.split())
    assert study.findings["verdict"]["sentence"] == verdict.sentence
    assert ("Recommended: the default SVM" in text) == (verdict.recommended == "default")
    decided = re.findall("Tuning helped|Tuning did not help|No difference can be seen", " ".join(text.split()))
    words = {"helped": "Tuning helped", "did not help": "Tuning did not help", "no difference seen": "No difference can be seen"}
    assert decided == [words[verdict.decision]]
    if name == "board":
        assert verdict.decision == "helped"
        assert verdict.gain.value > 0.1
    else:
        assert verdict.decision != "helped"
        assert not abs(verdict.gain.value) >= 0.25
        assert re.search("is no better than always|cannot be distinguished from always", verdict.sentence)


def test_the_table_and_the_verdict_have_the_same_scores(tuned):
    _, text, out = tuned
    verdict = Verdict.from_dict(load_study(out / "random.db").findings["verdict"])
    scores = pd.read_csv(out / "comparison.csv").set_index("model")
    for which, title, row in (("default", "default SVM", "default"), ("tuned", r"random \(8 trials\)", "random")):
        expected, on_folds = getattr(verdict, which), getattr(verdict, f"{which}_on_folds")
        has = [on_folds, expected.out_of_fold, expected.held_out, expected.held_out_error, expected.value]
        assert said(rf"{title} # # # \+- # #", text) == [printed(value, 4) for value in has]
        names = ["on_folds", "out_of_fold", "held_out", "held_out_error", "expected"]
        assert list(scores.loc[row, names]) == has
        assert tuple(scores.loc[row, ["expected_low", "expected_high"]]) == expected.interval
    if verdict.compares:
        gain = verdict.gain
        assert gain.on_held_out_rows.value == pytest.approx(verdict.tuned.held_out - verdict.default.held_out)
        assert gain.value == pytest.approx(verdict.tuned.value - verdict.default.value)
        low, high = gain.interval
        assert low <= gain.value <= high
        (other,) = set(scores.index) & ({"default"} if verdict.recommended == "tuned" else {"random"})
        sign = 1 if verdict.recommended == "tuned" else -1
        assert sign * scores.loc[other, "difference"] == pytest.approx(gain.value)


def test_there_is_one_recommendation(tuned):
    _, text, out = tuned
    study = load_study(out / "random.db")
    verdict = Verdict.from_dict(study.findings["verdict"])
    best = study.recommend()
    assert (best.number, dict(best.params)) == (verdict.number, dict(verdict.params))
    on_folds = verdict.tuned_on_folds if verdict.recommended == "tuned" else verdict.default_on_folds
    assert study.trials[best.number].value == pytest.approx(on_folds)
    assert "judgement" not in study.findings
    params = json.loads((out / "parameters.json").read_text())
    model = load_model(out / "model.skops").pipeline
    assert machine_parameters(model) == params
    assert SVC(**params).get_params() == params
    assert params["C"] == verdict.params["svc__C"]
    C, gamma = said("C = #, gamma = #", text)
    assert (C, gamma) == (float(f"{verdict.params['svc__C']:.4g}"), float(f"{verdict.params['svc__gamma']:.4g}"))
    if verdict.recommended == "tuned":
        assert params["gamma"] == verdict.params["svc__gamma"]
        assert said("Recommended: trial # of random, one", text) == [verdict.number]
    else:
        assert "Recommended: the default SVM: C = 1," in " ".join(text.split())
        assert params["gamma"] == "scale"
    values, asked = len(study.trials), len({t.sweep for t in study.trials})
    assert asked == 8 < values
    assert f"<dd>{asked}, with {values} values in their sweeps;" in (out / "report.html").read_text()
    assert (f"one of the {values} values in the sweeps of {asked} trials" in " ".join(text.split())) == (
        verdict.recommended == "tuned"
    )
    # nothing at a bound is recommended that a value within the ranges equals
    assert verdict.recommended == "tuned" or not study.edges()


def test_a_higher_score_that_was_not_chosen_is_told(tuned):
    _, text, out = tuned
    study = load_study(out / "random.db")
    verdict = Verdict.from_dict(study.findings["verdict"])
    highest = max(t.value for t in study.trials)
    told = re.findall(rf"The best accuracy on the folds, ({NUMBER}) of trial (\d+),", " ".join(text.split()))
    if verdict.replaced or highest <= verdict.tuned_on_folds + 1e-9:
        assert told == []
    else:
        assert told == [(f"{highest:.4g}", str(next(t.number for t in study.trials if t.value == highest)))]


def test_what_to_expect_rests_on_all_rows_and_holds_the_truth(tuned):
    name, text, out = tuned
    study = load_study(out / "random.db")
    verdict = Verdict.from_dict(study.findings["verdict"])
    expected, low, high = said(r"On new rows expect accuracy # of the \w+ SVM \(95 % interval # to #\)", text)
    assert (expected, low, high) == tuple(float(f"{v:.4g}") for v in (verdict.expected.value, *verdict.expected.interval))
    assert "by 180 training rows out of fold and 60 held-out rows" in " ".join(text.split())
    ends = sorted((verdict.expected.out_of_fold, verdict.expected.held_out))
    assert ends[0] - 1e-4 <= expected <= ends[1] + 1e-4
    X, y = (board if name == "board" else noise)(np.random.default_rng(99), 4000)
    model = load_model(out / "model.skops").pipeline
    names = [f"x{k}" for k in range(X.shape[1])]
    truth = (model.predict(pd.DataFrame(X, columns=names)) == np.where(y == 1, "odd", "even")).mean()
    wide = high - low  # a single interval may miss, but not by far
    assert low - wide / 2 <= truth <= high + wide / 2
    luck = study.findings["oversearching"]
    (score,) = said("The tuned accuracy of #", text)
    assert score == pytest.approx(luck["tuned_score"], abs=5e-3)
