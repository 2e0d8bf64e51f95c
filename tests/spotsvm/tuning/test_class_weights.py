"""Class weights and thresholds in models and files."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from installed_command import main
from sklearn.metrics import recall_score

from spotsvm import TunedSVC
from spotsvm.errors import ArgumentError, DataError
from spotsvm.tables import make_table
from spotsvm.tuning.class_weights import checked_threshold, read_class_weight, weights_of
from spotsvm.tuning.job import Job
from spotsvm.tuning.saved import load_model
from spotsvm.tuning.svm_average import SVMAverage
from spotsvm.tuning.svm_search import SVMSearch


def rare(n, seed=0):
    """A table with 8 % positives."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.08
    frame = pd.DataFrame(rng.normal(size=(n, 3)) + 1.1 * ill[:, None], columns=["a", "b", "c"]).round(3)
    return frame.assign(state=np.where(ill, "ill", "well"))


NEW = rare(1500, 1)


def run(folder, *options):
    args = ["tune", str(folder / "t.csv"), "--target", "state", "--no-compare", "--cv", "3", *options]
    result = CliRunner().invoke(main, args, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return f"{result.stderr}\n{result.stdout}"


def recall(folder):
    model = load_model(folder / "out")
    return recall_score(NEW["state"], model.pipeline.predict(NEW[["a", "b", "c"]]), pos_label="ill")


@pytest.fixture(scope="module")
def table(tmp_path_factory, no_pictures_here):
    folder = tmp_path_factory.mktemp("rare")
    rare(240).to_csv(folder / "t.csv", index=False)
    return folder


def notice(text):
    """Return the notice on a rare class, which is said once, or an empty text."""
    found = [line.partition("notice: ")[2] for line in text.splitlines() if "notice: class 'ill'" in line]
    return "\n".join(found)


def asked(text):
    """Return the options that a notice names, each as it stands."""
    return [shlex.split(part) for part in re.findall(r"(?:--[a-z-]+ [a-z_0-9.]+ ?)+", notice(text))]


def test_from_few_positives_to_a_model_that_finds_them(table):
    """Each option that a notice names works, and those for predictions lead to a model that finds the rare class."""
    out = "--out", str(table / "out")
    first = run(table, *out)
    before = recall(table)
    assert notice(first).startswith("class 'ill' has ")
    options = asked(first)
    assert options == [["--scoring", "balanced_accuracy", "--class-weight", "balanced"], ["--scoring", "average_precision"]]
    weighted = run(table, *options[0], *out)
    assert not notice(weighted)
    assert before < 0.55 < 0.6 < recall(table)
    ranked = run(table, *options[1], *out)
    assert "average precision" in ranked
    second = run(table, "--scoring", "balanced_accuracy")
    options = asked(second)
    assert [option[0] for option in options] == ["--class-weight", "--threshold"]
    by_threshold = run(table, "--scoring", "balanced_accuracy", *options[1], *out)
    assert not notice(by_threshold)
    assert recall(table) > 0.5
    for option in ("class-weight", "scoring"):
        assert option in first


def test_weights_and_threshold_reach_every_model_and_file(table):
    text = run(table, "--class-weight", "ill=9", "--threshold", "0.4", "--scoring", "f1", "--out", str(table / "both"))
    page = (table / "both" / "report.html").read_text(encoding="utf-8")
    assert "a row is predicted to be of the class &#39;ill&#39; if its probability is 0.4 or more" in page
    parameters = json.loads((table / "both" / "parameters.json").read_text())
    if "Recommended: TunedSVC(" in text:
        assert (parameters["class_weight"], parameters["threshold"]) == ({"ill": 9.0}, 0.4)
        assert TunedSVC(**parameters).class_weight == {"ill": 9.0}
    frame = rare(240)
    made = make_table(frame.drop(columns="state"), frame["state"])
    job = Job.of(SVMAverage, made, class_weight={"ill": 9.0}, threshold=0.4, scoring="f1", cv=3)
    default, tuned = job.run()
    assert default.estimator.threshold == tuned.estimator.threshold == 0.4
    assert "class_weight={'ill': 9.0}" in tuned.code
    assert "threshold=0.4" in tuned.code
    assert tuned.verdict.rivals[0].name == "a constant"
    assert [rival.code for rival in tuned.verdict.rivals] == ["constant", "linear", "forest"]


def test_class_weights_of_a_search_of_one_svm():
    frame = rare(160)
    made = make_table(frame.drop(columns="state"), frame["state"])
    job = Job.of(
        SVMSearch, made, class_weight="balanced", scoring="balanced_accuracy", n_trials=2, search="random", cv=3, compare=False
    )
    *_, found = job.run(lambda name, budget: __import__("contextlib").nullcontext())
    assert found.estimator[-1].class_weight == "balanced"
    assert "class_weight='balanced'" in found.code
    assert found.search.study_.findings["table"]["Class weights"] == "'balanced'"
    with pytest.raises(ArgumentError, match="the pipeline spectra searches weights and cutoffs of the classes itself"):
        Job.of(SVMSearch, made, class_weight="balanced", pipeline="spectra").run()


@pytest.mark.parametrize(("scoring", "name"), [("accuracy", "always 'well'"), ("neg_log_loss", "the shares of the classes")])
def test_the_constant_is_named_as_it_predicts_and_the_same_for_an_average_and_a_search(scoring, name, table, tmp_path):
    models = {"average": []} if scoring == "neg_log_loss" else {"average": [], "search": ["--model", "svm", "--trials", "2"]}
    held_out = []
    for kind, more in models.items():
        text = run(table, "--scoring", scoring, "--class-weight", "ill=30", "--out", str(tmp_path / kind), *more)
        assert name in text
        held_out.append(pd.read_csv(tmp_path / kind / "comparison.csv").set_index("model").loc["constant", "held_out"])
    assert len(set(held_out)) == 1
    assert scoring == "neg_log_loss" or held_out[0] > 0.8


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], None),
        (["balanced"], "balanced"),
        (["yes=10"], {"yes": 10.0}),
        (["a=b=0.5", "c=2"], {"a=b": 0.5, "c": 2.0}),
    ],
)
def test_reading_class_weights(given, expected):
    assert read_class_weight(given) == expected


@pytest.mark.parametrize(
    "given", ["yes", "yes=", "yes=ten", "yes=0", "yes=-1", "yes=nan", "yes=inf", "=", "balanced=", "Balanced"]
)
def test_class_weights_that_cannot_be_read(given):
    with pytest.raises(ArgumentError, match="use balanced alone, or LABEL=FACTOR with a positive factor"):
        read_class_weight([given])


@pytest.mark.parametrize(
    ("labels", "name"),
    [(["no", "yes"], "yes"), ([0, 1], "1"), ([0.0, 1.0], "1"), ([-1, 1], "1"), ([False, True], "True"), ([1, 2], "2")],
)
def test_class_weights_by_the_labels_of_a_table(labels, name):
    y = pd.Series(np.array(labels)[np.arange(40) % 2], name="y")
    made = make_table(pd.DataFrame({"a": np.arange(40.0)}), y, "classification")
    weights = weights_of({name: 3.0}, made)
    assert list(weights.values()) == [3.0]
    assert next(iter(weights)) in set(made.y)
    model = SVMAverage().estimator(Job.of(SVMAverage, made, class_weight={name: 3.0}))
    assert model.class_weight == weights


def test_what_cannot_be_weighted_or_moved():
    y = pd.Series(np.arange(60) % 3, name="y")
    X = pd.DataFrame({"a": np.arange(60.0)})
    three, numbers = make_table(X, y, "classification"), make_table(X, y + 0.5, "regression")
    with pytest.raises(DataError, match="--class-weight '7.0' does not occur in the target 'y'; use 0.0 or 1.0 or 2.0"):
        weights_of({"7": 2.0}, three)
    with pytest.raises(ArgumentError, match="--class-weight is for classes, and the task is regression; leave it out"):
        weights_of("balanced", numbers)
    with pytest.raises(
        ArgumentError, match=r"--threshold 0.2 is for two classes, and the target has 3 classes; .* --positive LABEL"
    ):
        checked_threshold(0.2, three)
    with pytest.raises(ArgumentError, match="the task is regression; leave it out"):
        checked_threshold(0.2, numbers)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "svm", "--threshold", "0.2"], "is for --model tuned, whose models have probabilities"),
        (["--model", "spectra", "--class-weight", "balanced"], "searches weights and cutoffs of the classes itself"),
        (["--class-weight", "balanced", "--class-weight", "ill=2"], "use balanced alone"),
        (["--threshold", "1.5"], "1.5 is not in the range"),
    ],
)
def test_options_that_do_not_go_together(table, options, message):
    result = CliRunner().invoke(main, ["tune", str(table / "t.csv"), "--target", "state", *options])
    assert result.exit_code != 0
    assert message in " ".join(result.stderr.split())
