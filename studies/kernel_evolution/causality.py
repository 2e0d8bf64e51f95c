"""Causality of the variation operators: how much a kernel matrix changes in a single step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from spotsvm.solvers.dual.problem.spectrum import matrix_state
from spotsvm.solvers.kernels.alignment import centred_alignment
from spotsvm.solvers.kernels.expressions import CONSTANTS, Expression, InnerProducts, evaluate
from spotsvm.solvers.search.genetic_programming import Grammar, PaperGrammar, PsdGrammar, breed_new, breed_variation
from spotsvm.studies.kernel_evolution.runs import BREEDING_TRIES, LabelledSet
from spotsvm.studies.kernel_evolution.tables import ALL_SETS

MAX_ROWS, STEPS = 100, 10
#: a kernel with a smaller change counts as unchanged; a factor only changes the meaning of C
UNCHANGED = 1e-6
_PROBED = 16
_LOG_CONSTANTS = (-8.0, 8.0)


def walks(data: LabelledSet, name: str, n_walks: int, seed: int) -> list[dict[str, Any]]:
    """Vary random kernels ten times each; return a row for each step.

    The other parent is a new random kernel; a child is valid on up to 100 standardised rows; constants are from 2^-8 to 2^8.
    `change` is 1 minus the centred alignment with the parent, nan if no child was valid.
    """
    rng = np.random.default_rng(seed)
    X = StandardScaler().fit_transform(data.X[rng.permutation(len(data.X))[:MAX_ROWS]])
    products = InnerProducts.between(X)
    grammar: Grammar = PaperGrammar() if name == "paper" else PsdGrammar(squared_norm=float(products.left.mean()))
    rows = []
    for walk in range(n_walks):
        values = np.exp2(rng.uniform(*_LOG_CONSTANTS, len(CONSTANTS)))
        constants = dict(zip(CONSTANTS, values, strict=True))
        rows += [{"walk": walk, "step": k, **step} for k, step in enumerate(_walk(grammar, products, constants, rng))]
    return rows


def _walk(
    grammar: Grammar, products: InnerProducts, constants: Mapping[str, float], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    accepts: Callable[[Expression], bool] = partial(_is_kernel, products=products, constants=constants)
    parent = breed_new(grammar, accepts, BREEDING_TRIES, rng)
    before = evaluate(parent.expression, products, constants)
    for _ in range(STEPS):
        mate = breed_new(grammar, accepts, BREEDING_TRIES, rng).expression
        child = breed_variation(grammar, [parent.expression, mate], accepts, BREEDING_TRIES, rng)
        after = evaluate(child.expression, products, constants)
        sound = parent.accepted and child.accepted
        yield {"change": 1.0 - centred_alignment(before, after) if sound else np.nan, "tries": child.tries}
        if sound:
            parent, before = child, after


def _is_kernel(expression: Expression, products: InnerProducts, constants: Mapping[str, float]) -> bool:
    """Return whether the matrix of an expression is positive semidefinite and not constant; a few rows are tested first."""
    few = np.arange(min(_PROBED, products.shape[0]))
    for some in (products.block(few, few), products):
        K = evaluate(expression, some, constants)
        if matrix_state(K) != "semidefinite":
            return False
    return bool(np.ptp(K) > 1e-9 * np.abs(K).max())


def causality_table(steps: pd.DataFrame) -> pd.DataFrame:
    """Summarise the steps for each grammar and set, and over the sets: shares of steps by their change, and quartiles.

    Steps with a change below 1e-6 are unchanged; the quartiles are those of the other steps. "Draws" is the mean number of
    attempts until a child is valid, "no child" the share of steps without a valid child.
    """
    rows: list[dict[str, Any]] = []
    if not len(steps):
        return pd.DataFrame(rows)
    for grammar, of_grammar in steps.groupby("grammar", sort=False):
        groups = [(str(name), some) for name, some in of_grammar.groupby("set", sort=False)]
        for name, some in [*groups, (ALL_SETS, of_grammar)] if len(groups) > 1 else groups:
            change = some["change"].dropna()
            low, middle, high = change[change >= UNCHANGED].quantile([0.25, 0.5, 0.75])
            row: dict[str, Any] = {"grammar": grammar, "set": name, "steps": len(some)}
            row |= {"unchanged": (change < UNCHANGED).mean(), "above 0.1": (change > 0.1).mean()}
            row |= {"above 0.5": (change > 0.5).mean(), "lower quartile": low, "median": middle, "upper quartile": high}
            rows.append(row | {"draws": some["tries"].mean(), "no child": some["change"].isna().mean()})
    return pd.DataFrame(rows)
