"""From a table with a rare class to a usable model by the command: notices, class weights and a threshold."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from installed_command import main


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
