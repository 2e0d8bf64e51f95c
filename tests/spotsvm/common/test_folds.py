import numpy as np
import pytest
from sklearn.model_selection import GroupShuffleSplit, KFold, LeaveOneOut, RepeatedStratifiedKFold, ShuffleSplit, TimeSeriesSplit

from spotsvm.common.folds import check_repeatable, seeded
from spotsvm.errors import ArgumentError

X, y = np.zeros((12, 1)), np.arange(12) % 2


class Unseeded:
    """A splitter with a generator of its own that nothing seeds."""

    def split(self, X, y=None, groups=None):
        rows = np.random.default_rng().permutation(len(X))
        yield rows[:6], rows[6:]

    def get_n_splits(self, X=None, y=None, groups=None):
        return 1


@pytest.mark.parametrize(
    "splitter",
    [KFold(3, shuffle=True), ShuffleSplit(2), RepeatedStratifiedKFold(n_splits=2, n_repeats=2), GroupShuffleSplit(2)],
    ids=lambda one: type(one).__name__,
)
def test_a_splitter_without_a_seed_gets_one_and_is_left_as_it_was(splitter):
    groups = np.arange(12) // 2 if isinstance(splitter, GroupShuffleSplit) else None
    with pytest.raises(ArgumentError, match=r"draws other folds at each call, so a search with a record \(path\) could never be"):
        check_repeatable(splitter, X, y, groups)
    check_repeatable(seeded(splitter, 2**40), X, y, groups)
    assert splitter.random_state is None
    drawn = [[test.tolist() for _, test in seeded(splitter, seed).split(X, y, groups)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("splitter", [KFold(3), LeaveOneOut(), TimeSeriesSplit(3), KFold(3, shuffle=True, random_state=0)])
def test_what_is_repeatable_stays_as_it_is(splitter):
    check_repeatable(splitter, X, y)
    one, other = ([test.tolist() for _, test in given.split(X, y)] for given in (splitter, seeded(splitter, 7)))
    assert one == other


def test_a_generator_that_was_given_counts_as_a_seed_and_is_not_used_up():
    rng = np.random.RandomState(3)
    check_repeatable(KFold(3, shuffle=True, random_state=rng), X, y)
    assert rng.randint(10**6) == np.random.RandomState(3).randint(10**6)


def test_what_cannot_be_seeded_is_refused_with_its_name():
    with pytest.raises(ArgumentError, match="cv=<.*Unseeded.* draws other folds .* or pass the folds as a list of"):
        check_repeatable(seeded(Unseeded(), 3), X, y)
