"""ConformalSVC keeps scikit-learn's contract."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from spotsvm import ConformalSVC


@parametrize_with_checks(
    [
        ConformalSVC(),
        ConformalSVC(bias=False, n_passes=3),
        ConformalSVC(kernel="precomputed"),
        ConformalSVC(solver="libsvm", kappa=0.5),
        ConformalSVC(kappa="auto", bias=True),
    ]
)
def test_check_estimator(estimator, check):
    check(estimator)
