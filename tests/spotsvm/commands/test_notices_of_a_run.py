"""Notices that arise while `spotsvm tune` runs: of a fit alone, and of rivals that the time limit leaves out."""

from html import unescape

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from spotsvm.commands.main import main
from spotsvm.tables import held_out, read_table

MODELS = pytest.mark.parametrize(
    "more", [[], ["--model", "svm", "--trials", "2", "--search", "random"]], ids=["average", "search"]
)
RIVALS = {"linear", "forest"}
NO_RIVALS = "the time limit left no time to fit a linear model and a random forest"


@pytest.fixture
def path(tmp_path, no_pictures):
    """A table with a column that is constant in the training rows alone, and one that is constant in all rows."""
    path, rng = tmp_path / "t.csv", np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2)).round(3), columns=["size", "age"]).assign(same="x")
    table["kind"] = np.where(table["size"] > 0, "a", "b")
    table.to_csv(path, index=False)
    _, test = held_out(read_table(path, "kind"), 2, 0)
    table.assign(late=np.where(table.index == test.X.index[0], 7.5, 1.0)).to_csv(path, index=False)
    return path


def tune(path, *more):
    out = path.parent / "out"
    args = ["tune", str(path), "--target", "kind", "--out", str(out), *more]
    result = CliRunner().invoke(main, args, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    page = " ".join(unescape((out / "report.html").read_text(encoding="utf-8")).split())
    return result.stderr, " ".join(result.stdout.split()), pd.read_csv(out / "comparison.csv"), page


@MODELS
def test_a_notice_that_only_the_fit_has(more, path):
    plan, printed, table, page = tune(path, "--no-compare", *more)
    late, same = (f"column {name!r} is left out: it has the same value in all rows" for name in ("late", "same"))
    assert late not in plan
    assert same in plan
    assert printed.count(f"notice: {late}") == 1
    assert same not in printed  # it was said with the plan
    assert table["note"].tolist().count(f"notice: {late}") == table["note"].tolist().count(f"notice: {same}") == 1
    assert late in page
    assert same in page
    assert NO_RIVALS not in printed + page


@MODELS
def test_rivals_that_the_time_limit_leaves_out(more, path):
    _, printed, table, page = tune(path, "--timeout", "0.000001", *more)
    assert printed.count(f"notice: {NO_RIVALS}") == 1
    assert NO_RIVALS in page
    assert f"notice: {NO_RIVALS}" in table["note"].tolist()
    assert "constant" in set(table["model"])
    assert not RIVALS & set(table["model"])
    assert "logistic regression" not in printed
    _, printed, table, page = tune(path, "--timeout", "3600", *more)
    assert set(table["model"]) > RIVALS
    assert NO_RIVALS not in printed + page
    _, printed, table, page = tune(path, "--timeout", "0.000001", "--no-compare", *more)
    assert not RIVALS & set(table["model"])
    assert NO_RIVALS not in printed + page
