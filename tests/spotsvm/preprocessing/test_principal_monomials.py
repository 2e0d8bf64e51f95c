import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from spotsvm import PrincipalMonomials
from spotsvm.errors import ArgumentError

WINE = load_wine(as_frame=True).data


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n", [1, 3, 8])
def test_scikit_learn_s_components_and_their_products(n, whiten):
    components = PCA(whiten=whiten, svd_solver="full").fit(WINE).transform(WINE)
    with_bias_and_linear = PolynomialFeatures(2).fit_transform(components[:, :n])
    found = PrincipalMonomials(n, whiten=whiten).fit_transform(WINE)
    assert found.shape == (len(WINE), 13 + n * (n + 1) // 2)
    np.testing.assert_allclose(found[:, :13], components, rtol=1e-12)
    np.testing.assert_allclose(found[:, 13:], with_bias_and_linear[:, 1 + n :], rtol=1e-12)


def test_names():
    found = PrincipalMonomials(3, n_kept=2).set_output(transform="pandas").fit(WINE)
    names = ["pca0", "pca1", "pca0^2", "pca0 pca1", "pca0 pca2", "pca1^2", "pca1 pca2", "pca2^2"]
    assert found.get_feature_names_out().tolist() == names
    out = found.transform(WINE.set_index(WINE.index + 7))
    assert out.columns.tolist() == names
    assert out.index.tolist() == (WINE.index + 7).tolist()
    for name in ("pca0 pca1", "pca1^2"):
        parts = name.replace("^2", " pca1").split()
        np.testing.assert_allclose(out[name], out[parts[0]] * out[parts[1]])
    assert found.feature_names_in_.tolist() == WINE.columns.tolist()


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999, 0.999999])
def test_a_share_of_the_variance_is_that_of_pca(share):
    scaled = StandardScaler().fit_transform(WINE)
    assert PrincipalMonomials(n_kept=share).fit(scaled).n_kept_ == PCA(share, svd_solver="full").fit(scaled).n_components_


def test_components_without_variance_are_left_out():
    rng = np.random.default_rng(0)
    rank_three = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 10))
    found = PrincipalMonomials().fit(rank_three)
    assert (found.n_kept_, found.n_components_) == (3, 3)
    assert np.isfinite(PrincipalMonomials(whiten=True).fit_transform(rank_three)).all()
    few = PrincipalMonomials(n_kept=0.99999).fit(rng.normal(size=(4, 10)))
    assert few.n_kept_ == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components=0; use a whole number, 1 or more"),
        ({"n_components": True}, "n_components=True; use"),
        ({"n_kept": -1}, "n_kept=-1; use None, a number of components, 0 or more, or a share"),
        ({"n_kept": 1.0}, r"n_kept=1\.0; use"),
        ({"n_kept": "mle"}, "n_kept='mle'; use"),
        ({"whiten": "yes"}, "whiten='yes'; use True or False"),
    ],
)
def test_a_parameter_that_makes_no_sense(options, message):
    with pytest.raises(ArgumentError, match=message):
        PrincipalMonomials(**options).fit(WINE)


def test_data_that_make_no_sense():
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        PrincipalMonomials().fit(WINE[:1])
    with pytest.raises(ValueError, match="NaN"):
        PrincipalMonomials().fit(pd.concat([WINE, WINE * np.nan]))
    with pytest.raises(ValueError, match="5 features, but PrincipalMonomials is expecting 13"):
        PrincipalMonomials().fit(WINE.to_numpy()).transform(WINE.to_numpy()[:, :5])
