"""ReducedSVC: a support vector classifier trained on a small part of the rows, which a genetic algorithm selects."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.common.checks import check_choice, check_count, check_positive
from spotsvm.common.targets import as_classes
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats, Integers
from spotsvm.estimators.dual.dual_svc import PairClassifier
from spotsvm.estimators.dual.exact_svc import ExactSVC
from spotsvm.estimators.dual.kernel_machine import check_cache_size
from spotsvm.estimators.reduced.fitness import SubsetFitness, SubsetMachine
from spotsvm.estimators.reduced.reduction import Reduction, ValidationPart, given_part, held_out_part
from spotsvm.estimators.reduced.scoring import check_scoring, judge_of
from spotsvm.estimators.reduced.settings import WHOLE, check_kernel, check_method, check_model, check_share, check_sizes
from spotsvm.solvers.dual.problem.one_vs_one import chosen_classes
from spotsvm.solvers.kernels import Kernel, kernel_matrix
from spotsvm.solvers.search.alternating import ModelGenetics, SubsetGenetics, VectorGenetics


class SubsetSVC(ExactSVC):
    """An `ExactSVC` as it was judged: equal rows are variables of their own, which decide where the threshold is open."""

    _merges_rows = False


@dataclass(eq=False, repr=False, kw_only=True)
class ReducedSVC(PairClassifier, BaseEstimator):
    """Support vector classification on K rows of each class, selected together with C and the gamma of the kernel.

    Training sets and models are evaluated by their score on a validation part, which the SVMs are not trained on. Because
    this score chooses them, it is no estimate for new rows. Only the rows must fit into memory, not all distances between
    them: 10^5 rows and more can be reduced.

    Parameters
    ----------
    method : {"alga", "gasvm", "ga-model", "grid", "nsga2", "random"}, default="alga"
        The method that selects training set and model.

        - "alga": two populations, of training sets and of models, evolve in turns, each with the best of the other.
        - "gasvm": training sets evolve; the model is fixed, or the best of the grid for the whole training part.
        - "ga-model": models evolve; the training set is the whole training part. It is slow where that is large.
        - "grid": the grid search that the paper compares with: the whole training part with each model of the grid, then with
          those in steps of 2 around the best.
        - "nsga2": pairs of training set and model evolve towards the front of the score against the number of support vectors.
        - "random": a training set drawn at random, with the best model of the grid for it; with `n_trials` the best of as many
          draws as that budget allows.
    n_per_class : int or "grow", default="grow"
        Rows K of each class, at least 1. "grow" begins with the number of features, but at least 4 and at most 16. Whenever
        training sets have stagnated and evolve again, they get more rows if 30 % or more of the best set's rows are support
        vectors: twice as many if all are. It ends after three growths without improvement. With "nsga2" sets then differ in size.
        "ga-model" and "grid" take all rows.
    kernel : str or callable, default="rbf"
        As in `ExactSVC`, but for "precomputed". Only "rbf" is the paper's, and keeps distances between evaluations.
    C : float, "grid" or None, default=None
        A fixed cost of errors. None evolves it with "alga", "ga-model" and "nsga2", and chooses it from the grid
        with "gasvm", "grid" and "random"; "grid" is the same for these three.
    gamma : float, "scale", "auto", "grid" or None, default=None
        Scale of the kernel, as for C; "scale" and "auto" fix it as in SVC. None, not "scale" as in the other estimators, is the
        default: the method chooses gamma together with C and the rows. "linear" and callables have none.
    degree : int, default=3
        As in SVC.
    coef0 : float, default=0.0
        As in SVC.
    scoring : str, callable or None, default=None
        What is maximised on the validation part, and what `score` returns: a scorer of scikit-learn, or its name, that uses
        predicted classes or decisions; None for accuracy. Where classes are rare, use "balanced_accuracy" or "roc_auc".
    validation : float or pair of arrays, default=1/3
        Validation part (X, y), or the fraction of each class to hold out, in (0, 1).
    max_per_class : int or None, default=None
        Largest K of n_per_class="grow"; None for half of the smallest class, 500 at most.
    crossover : {"auto", "vectors", "rows"}, default="auto"
        How a new training set is formed from its parents, with "alga" and "gasvm".

        - "vectors": the support vectors of the better parent on one side of a hyperplane, and of the worse parent on the other.
          The set is filled up with rows near which the hinge loss is large. "alga" evolves models after 20 generations.
        - "rows": rows drawn from both, as in the paper.
        - "auto": "vectors" if K is a number, else "rows": with "vectors", which leave few rows unused, sets would grow without
          need.
    ties : {"any", "fewer vectors"}, default="fewer vectors"
        Whether, of two pairs with the same score, the pair with fewer support vectors is fitter. "any" is the paper's rule.
    population_size : int, default=20
        Training sets of a population, or pairs with "nsga2"; at least 2. Models are as many as the grid has.
    mutation_probability : float, default=0.3
        Chance that a new training set is mutated.
    mutated_share : float, default=0.2
        Share of its rows that a mutation exchanges.
    model_crossover_probability : float, default=0.7
        Chance that a new model is a crossover.
    model_mutation_probability : float, default=0.2
        Chance that a new model is mutated.
    model_mutation_range : float, default=0.1
        Largest relative change of C and of gamma by a mutation, in [0, 1).
    C_values : sequence of float, default=(0.1, 1, 10, 100)
        C of the first population of models, and of the grid.
    gamma_values : sequence of float, default=(0.01, 0.1, 1, 10, 100)
        gamma of the same models. The defaults suit data scaled to unit ranges or variances.
    n_trials : int or None, default=None
        Number of trained SVMs after which no further generation begins. None: "alga", "gasvm" and "ga-model" stop by their
        own rules, "nsga2" after 2000, "random" after one draw. "grid" trains its whole grid in any case.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which a solver stops, positive.
    cache_size : float, default=200
        Megabytes for distances to the validation part or kernel values with it, and for the matrices of a training set. A larger
        training set is left to LIBSVM (24 n^2 bytes: more than about 2950 rows by default).
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        As in SVC.
    random_state : int, RandomState or None, default=None
        Seed of every random choice.

    Attributes
    ----------
    training_indices_ : ndarray of shape (n_training,)
        The reduced training set, as rows of the data given to `fit`.
    support_ : ndarray of shape (n_support,)
        The support vectors, as rows of the data given to `fit`.
    C_, gamma_ : float
        The model.
    validation_score_ : float
        Score on the validation part, which chose the training set and the model.
    front_ : pandas.DataFrame
        The evaluated pairs whose score on the validation part no other pair exceeds without more support vectors, the fewest
        support vectors first: score, n_support_vectors, n_training, n_per_class, C, gamma.
    front_indices_ : list of ndarray
        The training set of each row of the front, as rows of the data given to `fit`.
    history_ : pandas.DataFrame
        A row a generation: phase (its number), kind ("training set", "model", "grid", "draw" or "front"), generation, best and
        mean (score in the population), n_support_vectors, n_per_class, C and gamma of its best pair, n_evaluations so far.
    n_evaluations_ : int
        Number of trained SVMs.
    stopped_by_ : str
        "no improvement", "budget" or "no new pairs".
    machine_ : ExactSVC or sklearn.svm.SVC
        The model trained on the reduced training set; SVC if the set is too large for ExactSVC.
    classes_, support_vectors_, n_support_, dual_coef_, intercept_, n_features_in_, feature_names_in_
        As SVC has them.

    Raises
    ------
    ArgumentError
        In `fit`, if a parameter is not as above, a class has too few rows, or the validation part lacks a class; a ValueError.

    See Also
    --------
    ExactSVC : The model on all rows.
    SpotSearchCV : Searches C and gamma on all rows.

    Notes
    -----
    Ties of votes are decided by the decision function, because small training sets have many.

    Not in the paper: more classes than two, by one SVM for each pair of them and K rows of each class; "grow", after the
    authors' adaptive algorithms; the crossover "vectors"; "fewer vectors"; and "nsga2".

    References
    ----------
    Kawulok, Nalepa, Dudzik 2017, "An alternating genetic algorithm for selecting SVM model and training set". Kawulok, Nalepa
    2012, "Support vector machines training data selection using a genetic algorithm" (GASVM). Kawulok, Nalepa 2014,
    "Dynamically adaptive genetic algorithm to select training data for SVMs"; Nalepa, Kawulok 2014, "A memetic algorithm to
    select training data for support vector machines", whose rule for the growth is taken over.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = ReducedSVC(n_per_class=8, random_state=0).fit(scale(X), y)
    >>> len(machine.training_indices_), bool(machine.score(scale(X), y) > 0.9)
    (16, True)
    """

    method: Literal["alga", "gasvm", "ga-model", "grid", "nsga2", "random"] = "alga"
    n_per_class: Any = "grow"
    kernel: Any = "rbf"
    C: Any = None
    gamma: Any = None
    degree: int = 3
    coef0: float = 0.0
    scoring: Any = None
    validation: Any = 1 / 3
    max_per_class: int | None = None
    crossover: Literal["auto", "vectors", "rows"] = "auto"
    ties: Literal["any", "fewer vectors"] = "fewer vectors"
    population_size: int = 20
    mutation_probability: float = 0.3
    mutated_share: float = 0.2
    model_crossover_probability: float = 0.7
    model_mutation_probability: float = 0.2
    model_mutation_range: float = 0.1
    C_values: Any = (0.1, 1.0, 10.0, 100.0)
    gamma_values: Any = (0.01, 0.1, 1.0, 10.0, 100.0)
    n_trials: int | None = None
    tol: float = 1e-3
    cache_size: float = 200
    decision_function_shape: Literal["ovr", "ovo"] = "ovr"
    random_state: Any = None

    def fit(self, X: Any, y: Any, validation: Any = None) -> Self:
        """Select a training set and a model, and train on them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Classes, two or more.
        validation : pair of arrays, optional
            Validation part (X, y) to be used instead of the parameter `validation`; all rows of X are then trained on.

        Returns
        -------
        ReducedSVC
            Itself.

        Raises
        ------
        ArgumentError
            If a parameter is invalid, or the data have too few rows for it; a ValueError.

        See Also
        --------
        predict : The classes of new rows.
        decision_function : What decides.
        """
        X, y = validate_data(self, X, as_classes(y, type(self).__name__), dtype=np.float64, order="C")
        method = check_method(self.method, self.n_per_class)
        check_choice("crossover", self.crossover, ("auto", "vectors", "rows"))
        check_choice("ties", self.ties, ("any", "fewer vectors"))
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        self.classes_, code = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ArgumentError(
                f"y holds the one class {self.classes_.tolist()[0]!r} (n_samples={len(y)}); two classes or more are needed"
            )
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=2)
        part = self._validation_part(X, code, validation, int(seeds[0]))
        of_training = code[part.training]
        self._scorer = check_scoring(self.scoring)
        check_kernel(self.kernel)
        machine = SubsetMachine(
            X[part.training],
            of_training,
            part.X,
            part.code,
            check_positive("tol", self.tol),
            check_cache_size(self.cache_size),
            None if self._gaussian else self._kernel,
            None if self._scorer is None else judge_of(self._scorer, part.X, part.code, self.classes_),
        )
        reduction = self._reduction(method, machine, len(part.training) < len(X), np.random.default_rng(int(seeds[1])))
        reduction.run(method)
        self._keep(reduction, part)
        self._train(X, y, machine, part)
        return self

    def _validation_part(self, X: Floats, code: Integers, given: Any, seed: int) -> ValidationPart:
        validation = self.validation if given is None else given
        if given is None and np.isscalar(validation):
            return held_out_part(X, code, self.classes_, validation, seed)
        return given_part(validation, self.classes_, len(X), X.shape[1], getattr(self, "feature_names_in_", None))

    def _reduction(self, method: str, machine: SubsetMachine, held_out: bool, rng: np.random.Generator) -> Reduction:
        n_classes, X = len(self.classes_), machine.X
        n_per_class = 1 if method in WHOLE else self.n_per_class
        counts = dict(zip(self.classes_.tolist(), np.bincount(machine.code, minlength=n_classes).tolist(), strict=True))
        sizes = check_sizes(n_per_class, self.max_per_class, X.shape[1], counts, held_out)
        size = check_count("population_size", self.population_size, 2, after=", because parents come from two halves")
        budget = None if self.n_trials is None else check_count("n_trials", self.n_trials, after=", or None")
        inherits = method in ("alga", "gasvm") and (self.crossover == "vectors" or (self.crossover == "auto" and not sizes.grows))
        fitness = SubsetFitness(machine, self.ties == "fewer vectors", 3 * size if inherits else 0)
        mutation = (
            check_share("mutation_probability", self.mutation_probability),
            check_share("mutated_share", self.mutated_share),
        )
        subsets = (
            VectorGenetics(X, machine.code, sizes.start, *mutation, support=fitness.support, gains=fitness.gains)
            if inherits
            else SubsetGenetics(machine.code, sizes.start, *mutation)
        )
        models = ModelGenetics(
            check_model(method, self.C, self.gamma, self.C_values, self.gamma_values, X, check_kernel(self.kernel)),
            check_share("model_crossover_probability", self.model_crossover_probability),
            check_share("model_mutation_probability", self.model_mutation_probability),
            check_share("model_mutation_range", self.model_mutation_range, below_one=True),
        )
        return Reduction(fitness, subsets, models, sizes, size, budget, rng)

    def _keep(self, reduction: Reduction, part: ValidationPart) -> None:
        fitness = reduction.fitness
        if self._scorer is None and fitness.best.score == 0.0:
            warnings.warn("every SVM misclassifies every row of the validation part; scale the data, or set gamma", stacklevel=3)
        self.training_indices_ = part.training[fitness.best.rows]
        self.C_, self.gamma_ = fitness.best.C, fitness.best.gamma
        self.front_ = fitness.front_frame()
        self.front_indices_ = [part.training[one.rows] for one in fitness.front]
        self.history_ = reduction.history
        self.n_evaluations_ = fitness.n_evaluations
        self.stopped_by_ = reduction.stopped_by

    def _train(self, X: Floats, y: NDArray[Any], machine: SubsetMachine, part: ValidationPart) -> None:
        options: dict[str, Any] = {"C": self.C_, "gamma": self.gamma_, "tol": self.tol, "cache_size": self.cache_size}
        options["decision_function_shape"] = "ovo"
        options |= {"kernel": self.kernel, "degree": self.degree, "coef0": self.coef0}
        rows = self.training_indices_
        if machine.fits(len(rows)):
            self.machine_ = SubsetSVC(**options)
        else:
            from sklearn.svm import SVC

            if not self._gaussian:
                options["kernel"] = partial(kernel_matrix, self._kernel(self.gamma_))
            self.machine_ = SVC(**options)
        self.machine_.fit(X[rows], y[rows])
        self.support_ = rows[self.machine_.support_]
        for name in ("support_vectors_", "n_support_", "dual_coef_", "intercept_"):
            setattr(self, name, getattr(self.machine_, name))
        decisions = self.machine_.decision_function(part.X).reshape(len(part.X), -1)
        chosen = chosen_classes(decisions, len(self.classes_), True)
        judge = machine.judge
        self.validation_score_ = float((chosen == part.code).mean()) if judge is None else judge(decisions, chosen, True)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score predictions by `scoring`: accuracy if it is None.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, for scorers that take them.

        Returns
        -------
        float
            The score.

        See Also
        --------
        predict : What is scored.
        """
        scorer = check_scoring(self.scoring)
        if scorer is None:
            return float(super().score(X, y, sample_weight))
        return float(scorer(self, X, y) if sample_weight is None else scorer(self, X, y, sample_weight=sample_weight))

    @property
    def _gaussian(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "rbf"

    def _kernel(self, gamma: float) -> Kernel:
        return Kernel(self.kernel, gamma, self.coef0, self.degree)

    def _breaks_ties(self) -> bool:
        return True

    def _pair_decisions(self, X: Any) -> Floats:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        decisions: Floats = self.machine_.decision_function(rows).reshape(len(rows), -1)
        return decisions
