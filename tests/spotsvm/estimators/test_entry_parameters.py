import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from spotsvm.estimators.entry_parameters import EntryParametersMixin


class Bag(EntryParametersMixin, BaseEstimator):
    _with_entries = ("sizes",)

    def __init__(self, sizes=None, machine=None):
        self.sizes = sizes
        self.machine = machine

    def _replaced(self, parameter, entries):
        return {**(getattr(self, parameter) or {}), **entries}


def test_entries_are_parameters():
    given = {"a": 1}
    bag = Bag(given, SVC())
    assert bag.get_params()["sizes__a"] == 1
    assert bag.get_params()["machine__C"] == 1.0
    assert set(bag.get_params(deep=False)) == {"sizes", "machine"}
    assert bag.set_params(sizes__a=2, sizes__b=3, machine__C=5.0) is bag
    assert (bag.sizes, given, bag.machine.C) == ({"a": 2, "b": 3}, {"a": 1}, 5.0)
    assert bag.set_params(sizes={"c": 4}, sizes__d=5).sizes == {"c": 4, "d": 5}
    assert clone(bag).get_params()["sizes__d"] == 5


def test_inside_of_a_pipeline():
    pipeline = make_pipeline(Bag())
    assert pipeline.set_params(bag__sizes__a=1).get_params()["bag__sizes__a"] == 1


def test_what_is_no_parameter():
    with pytest.raises(ValueError, match="Invalid parameter 'size' for estimator Bag"):
        Bag().set_params(size__a=1)
