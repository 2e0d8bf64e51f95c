from types import SimpleNamespace

from scipy.stats import uniform

from spotsvm import Study
from spotsvm.tuning.job import Job
from spotsvm.tuning.results import HeldOutResult
from spotsvm.tuning.svm_search import SVMSearch


def result(held_out, error=0.01, name="kriging", search=None):
    return HeldOutResult(name, None, held_out, error, 0.9, search=search)


def test_a_random_search_that_only_failed_is_no_baseline(tmp_path):
    def search(objective):
        return SimpleNamespace(study_=Study({"x": uniform(0, 1)}, "random", 0).run(objective, n_trials=3, max_failures=None))

    failed, fine = search(lambda p: 1 / 0), search(lambda p: p["x"])
    results = [result(0.9, name="default"), result(0.9, name="random", search=failed), result(0.9, search=fine)]
    Job.of(SVMSearch, None).write_page(results, tmp_path / "page.html")
    assert "Band: random search" not in (tmp_path / "page.html").read_text(encoding="utf-8")
