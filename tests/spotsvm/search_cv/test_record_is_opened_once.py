from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.study.record.record import Record

SPACE = {"C": loguniform(2**-5, 2**10), "gamma": loguniform(2**-10, 2**2)}


def test_a_fit_opens_its_record_once(tmp_path, monkeypatch):
    opened, right = [], Record.__init__

    def count(self, *arguments, **options):
        opened.append(self)
        right(self, *arguments, **options)

    monkeypatch.setattr(Record, "__init__", count)
    X, y = load_iris(return_X_y=True)
    search = SpotSearchCV(SVC(), SPACE, n_iter=4, search="random", random_state=0, path=tmp_path / "a.db")
    first = search.fit(X, y).study_.trials
    assert len(opened) == 1
    assert search.fit(X, y).study_.trials == first
    assert len(opened) == 2
