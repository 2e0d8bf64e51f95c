"""ConformalSVC keeps scikit-learn's contract."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from spotsvm import ConformalSVC

EACH_ROW_ONCE = {"check_sample_weight_equivalence_on_dense_data": "every row counts once to gamma='scale', as in SVC"}


@parametrize_with_checks(
    [
        ConformalSVC(),
        ConformalSVC(bias=False, n_passes=3),
        ConformalSVC(kernel="precomputed"),
        ConformalSVC(solver="libsvm", kappa=0.5, gamma="auto"),
        ConformalSVC(gamma="auto"),
        ConformalSVC(kappa="auto", bias=True, gamma="auto"),
    ],
    expected_failed_checks=lambda machine: EACH_ROW_ONCE if (machine.kernel, machine.gamma) == ("rbf", "scale") else {},
)
def test_check_estimator(estimator, check):
    check(estimator)
