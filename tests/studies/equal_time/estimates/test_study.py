import zlib

import numpy as np
import pytest

from spotsvm.common.errors import ArgumentError
from spotsvm.studies.equal_time.estimates import study as module
from spotsvm.studies.equal_time.estimates.study import POLICIES, REFERENCE, RULES, EstimatesStudy
from spotsvm.studies.equal_time.estimates.tables import Table

MEASURED = []


def known_table(rows, split):
    """Return a table of a smooth surface: partitions differ by noise, and the loss has less of it than the error."""
    MEASURED.append((rows.name, split))
    of_set, rng = (np.random.default_rng([zlib.crc32(rows.name.encode()), k]) for k in (0, 1 + split))
    at_gamma, at_cost = of_set.uniform(5, 13), of_set.uniform(3, 8)
    shape = np.add.outer(0.2 * (np.arange(19) - at_gamma) ** 2, 0.2 * (np.arange(11) - at_cost) ** 2).ravel()
    surface = 20 + np.concatenate([[6.0], shape, rng.choice(shape, 100)])
    noise = rng.standard_normal((2, 310, 8))
    errors, losses = (surface[:, None] + size * some for size, some in zip((2.0, 0.5), noise, strict=True))
    return Table(errors, losses, np.full((310, 8), 2.0), np.full((310, 2), 0.2), surface + 0.3 * rng.standard_normal(310))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return a study of known tables, which are measured once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "measure", known_table)
        patch.delenv("SPOTSVM_DATA", raising=False)
        sets = ("iris", "wine", "breast cancer", "digits", "sonar")
        yield EstimatesStudy(n_splits=3, sets=sets, path=tmp_path_factory.mktemp("tables")).run()


def test_every_choice_is_judged_and_every_table_kept(study):
    runs = study.frame()
    assert len(MEASURED) == len(set(MEASURED)) == 4 * 3
    assert len(runs) == 4 * 3 * 2 * runs["choice"].nunique()
    table = study.table().set_index("returned setting")
    assert table.loc[REFERENCE, "mean"] == 0
    assert (table["sets"] == 4).all()
    assert runs[runs["kind"] == RULES]["units"].isna().all()
    assert (runs[runs["kind"] == POLICIES]["units"] > 5).all()
    assert study.run().frame().equals(runs)
    assert len(MEASURED) == 4 * 3


def test_the_truth_of_known_tables_is_found(study):
    mean = study.table().set_index("returned setting")["mean"]
    whole = "whole grid, 11 C x 19 gamma"
    assert mean["defaults"] > 1
    assert mean[f"{whole}, eight partitions"] < mean[f"{whole}, one partition"] - 0.3
    assert mean[f"{whole}, one partition, error and loss"] < mean[f"{whole}, one partition"]
    assert mean[f"{whole}, two partitions, smoothed by a learned prior"] < mean[f"{whole}, two partitions"]
    assert mean.idxmin() == "(the best for the new rows themselves)"
    policies = study.policies().set_index("returned setting")["mean"]
    assert policies["8 gamma x 6 C, the best 3 gamma x 3 C on 6 partitions"] < policies["8 gamma x 11 C, error alone"]


def test_what_it_says(study, tmp_path):
    said = study.conclusion()
    assert "Rules, 4 data sets, error on new rows against the best of 25 random settings: " in said
    assert "Left out: sonar (the study needs the data set 'sonar'" in said
    study.write(tmp_path)
    assert "8 gamma x 6 C, the best 3 gamma x 3 C on 6 partitions" in (tmp_path / "estimates.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_splits": 0}, "n_splits=0 is too few"),
        ({"sets": ("irises",)}, "sets: 'irises' is unknown"),
        ({"sets": ("iris", "wine")}, "fewer than three families"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        EstimatesStudy(**arguments).run()
