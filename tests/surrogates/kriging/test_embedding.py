import numpy as np

from spotsvm.surrogates.kriging.embedding import Embedding

X = np.array([[0.0, 1.2, 7.0], [2.0, 0.8, 3.0], [2.0, 3.0, 7.0]])


def test_pair_distances_are_squared_differences_of_numbers_and_mismatches_of_names():
    embedding = Embedding.of(X, integer=[1], categorical=[2], scale=[2.0, 1.0, 1.0])
    got = embedding.pair_distances(embedding.transform(X))
    pairs = [(0, 1), (0, 2), (1, 2)]
    want = [
        [((X[i, 0] - X[j, 0]) / 2) ** 2 for i, j in pairs],
        [(round(X[i, 1]) - round(X[j, 1])) ** 2 for i, j in pairs],
        [float(X[i, 2] != X[j, 2]) for i, j in pairs],
    ]
    assert np.allclose(got, want)


def test_an_unknown_name_is_as_far_from_all():
    embedding = Embedding.of(X, categorical=[2])
    known, new = embedding.transform(X), embedding.transform(np.array([[0.0, 1.2, 99.0]]))
    columns = embedding.owner == 2
    assert np.allclose(((known - new)[:, columns] ** 2).sum(axis=1), 1.0)


def test_tiny_differences_survive():
    x = np.array([[0.5], [0.5 + 1e-12]])
    embedding = Embedding.of(x)
    assert np.isclose(embedding.pair_distances(embedding.transform(x))[0, 0], 1e-24, rtol=1e-3)
