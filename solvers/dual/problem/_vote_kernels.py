"""Compiled loops over the pairs of several classes."""

from __future__ import annotations

import numpy as np

from spotsvm.surrogates.compiled import compiled


@compiled
def count_votes(decisions, counts):
    """Add to each row's counts of classes the pairs that each class wins; a decision of 0 is for a pair's second class."""
    n, n_classes = counts.shape
    for r in range(n):
        k = 0
        for i in range(n_classes):
            for j in range(i + 1, n_classes):
                counts[r, i if decisions[r, k] > 0.0 else j] += 1
                k += 1


@compiled
def score_classes(decisions, scores):
    """Write votes plus s / (3 (|s| + 1)), s the sum of a class's decisions; one of 0 is for a pair's first class."""
    n, n_classes = scores.shape
    sums = np.empty(n_classes)
    for r in range(n):
        out = scores[r]
        for i in range(n_classes):
            sums[i] = out[i] = 0.0
        k = 0
        for i in range(n_classes):
            for j in range(i + 1, n_classes):
                d = decisions[r, k]
                out[j if d < 0.0 else i] += 1.0
                sums[i] += d
                sums[j] -= d
                k += 1
        for i in range(n_classes):
            out[i] += sums[i] / (3.0 * (abs(sums[i]) + 1.0))
