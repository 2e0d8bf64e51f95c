"""Several classes by a classifier for each pair of them, laid out and voting as in scikit-learn's SVC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes (i, j), i < j, in the order of their classifiers."""
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def pair_labels(is_first: NDArray[np.bool_], n_classes: int) -> Floats:
    """Return 1.0 for the positive class, the second of two classes or the first of each pair of several; -1.0 for the other."""
    return np.where(is_first == (n_classes > 2), 1.0, -1.0)


class PairCoefficients:
    """The signed dual variables of all pairs' classifiers, in SVC's layout.

    There are n_classes - 1 rows and a column for each row of training data; a row of class c has its coefficient against
    class o in row o - 1 if o > c, else in row o. The class of a row that has none is -1.
    """

    def __init__(self, classes: Integers, n_classes: int):
        self.classes, self.n_classes = classes, n_classes
        self.table = np.zeros((n_classes - 1, len(classes)))

    def put(self, i: int, j: int, rows: Integers, coefficients: Floats) -> None:
        """Enter the coefficients of the classifier of classes i < j at some rows, each of class i or j."""
        place = np.where(self.classes[rows] == i, j - 1, i)
        self.table[place, rows] = coefficients

    def support(self) -> tuple[Integers, NDArray[np.int32], Floats]:
        """Return the rows that any classifier uses, class by class, their number in each class, and their coefficients."""
        used = np.flatnonzero(self.table.any(axis=0))
        order = used[np.argsort(self.classes[used], kind="stable")]
        counts = np.bincount(self.classes[order], minlength=self.n_classes).astype(np.int32)
        return order, counts, np.ascontiguousarray(self.table[:, order])


def pair_terms(dual_coef: Floats, n_support: NDArray[np.int32]) -> Iterator[list[tuple[slice, Floats]]]:
    """Yield for each pair the columns of support vectors that it uses, and their coefficients."""
    ends = np.concatenate([[0], np.cumsum(n_support)])
    columns = [slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    for i, j in pairs(len(n_support)):
        yield [(columns[i], dual_coef[j - 1, columns[i]]), (columns[j], dual_coef[i, columns[j]])]


def pair_rows(dual_coef: Floats, n_support: NDArray[np.int32]) -> Floats:
    """Return the coefficients of each pair's classifier as a row, (n_pairs, n_support)."""
    rows = np.zeros((len(pairs(len(n_support))), dual_coef.shape[1]))
    for row, terms in zip(rows, pair_terms(dual_coef, n_support), strict=True):
        for columns, coefficients in terms:
            row[columns] = coefficients
    return rows


def pair_decisions(kernel_values: NDArray[Any], dual_coef: Floats, n_support: NDArray[Any], intercept: Floats) -> Floats:
    """Return the decision of each pair's classifier, (n, n_pairs), from kernel values with the support vectors.

    It is positive for the side that `pair_labels` gives 1.0.
    """
    k = len(n_support)
    pair = np.zeros((k, k), dtype=np.intp)
    pair[np.triu_indices(k, 1)] = np.arange(len(intercept))
    pair += pair.T
    ends = np.concatenate([[0], np.cumsum(n_support)])
    decisions = np.zeros((len(kernel_values), len(intercept)))
    for c in range(k):  # a class is in k - 1 pairs, whose coefficients are the rows of its columns
        of_class = slice(int(ends[c]), int(ends[c + 1]))
        decisions[:, np.delete(pair[c], c)] += (
            kernel_values[:, of_class].astype(np.float64, copy=False) @ dual_coef[:, of_class].T
        )
    decisions += intercept
    return decisions


def votes(decisions: Floats, n_classes: int) -> NDArray[np.int64]:
    """Count for each row and class the pairs that it wins; a decision of 0 is for a pair's second class."""
    from spotsvm.solvers.dual.problem._vote_kernels import count_votes

    counts = np.zeros((len(decisions), n_classes), dtype=np.int64)
    count_votes(np.ascontiguousarray(decisions, dtype=np.float64), counts)
    return counts


def one_vs_rest(decisions: Floats, n_classes: int) -> Floats:
    """Return a score for each of three or more classes, as scikit-learn does: the votes plus s / (3 (|s| + 1)).

    s is the sum of decisions for the class.
    """
    from spotsvm.solvers.dual.problem._vote_kernels import score_classes

    scores = np.empty((len(decisions), n_classes))
    score_classes(np.ascontiguousarray(decisions, dtype=np.float64), scores)
    return scores


def decision_values(decisions: Floats, n_classes: int, shape: str) -> Floats:
    """Return the decision function from each pair's: one value of two classes, of several a column for each class or pair."""
    if n_classes == 2:
        return decisions[:, 0]
    return one_vs_rest(decisions, n_classes) if shape == "ovr" else decisions


def chosen_classes(decisions: Floats, n_classes: int, break_ties: bool) -> Integers:
    """Return the number of the class that each row is predicted to be of; ties of votes go to the first, or are broken."""
    if n_classes == 2:
        return (decisions[:, 0] >= 0).astype(np.intp)
    scores = one_vs_rest(decisions, n_classes) if break_ties else votes(decisions, n_classes)
    chosen: Integers = np.argmax(scores, axis=1)
    return chosen
