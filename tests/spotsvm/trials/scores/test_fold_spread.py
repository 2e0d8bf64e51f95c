import numpy as np
import pytest

from spotsvm.trials.scores.fold_bias import corrected_standard_error, fold_metrics, fold_scores, tuned_metric
from spotsvm.trials.trial import Trial


def test_the_metric_is_the_one_whose_mean_is_the_value():
    extra = {"split0_test_a": 1.0, "split1_test_a": 0.0, "split0_test_b": 0.2, "split1_test_b": 0.4, "split0_train_b": 9.0}
    trial = Trial(0, {}, (), "ok", 0.3, extra)
    assert fold_metrics([trial]) == ["a", "b"]
    assert tuned_metric([trial]) == "b"
    assert tuned_metric([Trial(0, {}, (), "ok", 0.7, extra)]) is None
    assert tuned_metric([Trial(0, {}, (), "ok", 0.7)]) is None


def test_the_correction_of_nadeau_and_bengio():
    scores = [0.8, 0.9, 0.85, 0.8, 0.9]
    # variance times (1 / J + n_test / n_train)
    assert corrected_standard_error(scores) == pytest.approx(np.sqrt((1 / 5 + 1 / 4) * np.var(scores, ddof=1)))
    assert corrected_standard_error(scores, 0.5) == pytest.approx(np.sqrt((1 / 5 + 1) * np.var(scores, ddof=1)))


def test_scores_are_in_the_order_of_the_folds():
    extra = {f"split{k}_test_a": float(k) for k in (10, 2, 0)} | {"split0_test_a_b": 9.0, "split0_train_a": 8.0}
    assert fold_scores(extra, "a") == {0: 0.0, 2: 2.0, 10: 10.0}
    assert list(fold_scores(extra, "a")) == [0, 2, 10]
    assert fold_scores(extra, "a_b") == {0: 9.0}
    assert fold_scores(extra, "c") == {}
