"""Systems without semaphores."""

import errno

import loky
import pytest
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.errors import WorkersError


@pytest.mark.parametrize(
    ("error", "why"),
    [(OSError(errno.EROFS, "Read-only file system"), "Read-only file system"), (ImportError("no sem_open"), "no sem_open")],
    ids=str,
)
def test_where_the_system_has_no_semaphores_one_sentence_says_so(error, why, monkeypatch):
    """As where /dev/shm cannot be written to."""

    def refused(*_, **named):
        raise error

    monkeypatch.setattr(loky, "ProcessPoolExecutor", refused)
    why = rf"worker processes cannot be started: the system gives no semaphores \({why}\), which .* /dev/shm"
    with pytest.raises(WorkersError, match=why):
        Study({"x": uniform(0, 1)}, "random", 0).run(lambda params: params["x"], 3, n_jobs=2)
    study = Study({"x": uniform(0, 1)}, "random", 0).run(lambda params: params["x"], 3)  # the remedy
    assert [trial.state for trial in study.trials] == ["ok"] * 3
