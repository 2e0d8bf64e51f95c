import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.study.record.record import Record

SPACE = {"C": loguniform(2**-5, 2**10), "gamma": loguniform(2**-10, 2**2)}


@pytest.mark.parametrize(("confirm", "n_opened"), [(None, 1), (2, 2)])
def test_a_fit_opens_its_record_once_and_again_for_a_finding_after_the_search(confirm, n_opened, tmp_path, monkeypatch):
    opened, right = [], Record.__init__

    def count(self, *arguments, **options):
        opened.append(self)
        right(self, *arguments, **options)

    monkeypatch.setattr(Record, "__init__", count)
    X, y = load_iris(return_X_y=True)
    search = SpotSearchCV(SVC(), SPACE, n_iter=4, search="random", random_state=0, confirm=confirm, path=tmp_path / "a.db")
    first = search.fit(X, y).study_.trials
    assert len(opened) == n_opened
    assert search.fit(X, y).study_.trials == first
    assert len(opened) == 2 * n_opened - (confirm is not None), "what is confirmed already is not confirmed again"
