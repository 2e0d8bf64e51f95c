"""The average of settings, or the single best, by their answers for judged rows: weights, calibration, and the score in draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.luck.bootstrap import N_DRAWS, left_out_scores
from spotsvm.luck.calibration import Calibration, calibrate
from spotsvm.luck.drawn import Drawn, left_out
from spotsvm.luck.draws import Draws
from spotsvm.luck.scores import Score, score_called
from spotsvm.luck.weights import agnostic_bayes, agnostic_bayes_in_draws, greedy, largest, single_best, trimmed
from spotsvm.out_of_fold.judged_rows import Answers, JudgedRows, as_decisions

Array = NDArray[Any]

#: added to the mean of absolute decisions, by which those of a setting are divided
_LEAST_SCALE = 1e-6
_LOG_LOSS = "neg_log_loss"


@dataclass(frozen=True)
class Rule:
    """How settings are chosen by a score, the best alone or an average of `most`, and how their answers become decisions.

    `calibrated` answers are log odds, by a sigmoid or softmax. `shift` has the log odds of the second class from which on it is
    predicted; None is the most probable class.
    """

    score: Score
    average: bool = True
    most: int | None = None
    calibrated: bool = False
    shift: float | None = None

    def moves(self, score: Score) -> bool:
        """Return whether the threshold decides which class a score counts."""
        return self.shift is not None and score.kind == "labels"

    def for_score(self, decisions: Array, score: Score) -> Array:
        """Return decisions as a score takes them."""
        return np.asarray(decisions - self.shift) if self.shift is not None and score.kind == "labels" else decisions


class Choice(NamedTuple):
    """Weights of settings, (m,), divisors of their answers, draws of rows, weights in each draw, (b, m), and gains of rows."""

    weights: Array
    scales: Array
    draws: Draws
    #: None for a target of several columns
    in_draws: Array | None = None
    gains: Array | None = None


def decisions_of(rows: JudgedRows, answers: Answers, rule: Rule, score: Score) -> Array:
    """Return the decisions of each setting alone as a score takes them, (m, n, k)."""
    decisions = as_decisions(answers.values, answers.response, rule.calibrated, score.kind == "ranks")
    if rule.calibrated and (score.kind == "probabilities" or rule.moves(score)):
        own = replace(answers, own_threshold=False)
        decisions = _calibration(rows, own, decisions, np.ones(decisions.shape[:2]), np.eye(len(answers)))(decisions)
    return rows.in_units(rule.for_score(decisions, score))


def gains_of(rows: JudgedRows, answers: Answers, rule: Rule) -> Array:
    """Return the contribution of each row to the score of each setting, (m, n)."""
    return rule.score.gains(decisions_of(rows, answers, rule, rule.score), rows.aim, rows.weights)


def selects_greedily(classifies: bool, scoring: str, n_targets: int = 1) -> bool:
    """Return whether an average selects settings greedily by squared error, and not by how often each is the best."""
    return not classifies and (n_targets > 1 or scoring != "neg_mean_absolute_error")


def weighs_by_log_loss(classifies: bool, scoring: str, response: str) -> bool:
    """Return whether half of the weights of an average come from log loss, in addition to the score."""
    return classifies and response != "predict" and scoring != _LOG_LOSS


def choose(rows: JudgedRows, answers: Answers, rule: Rule, seed: int, best: int | None = None) -> Choice:
    """Return the weights of settings; without an average all weight is on `best`, by default on the best by the gains.

    In classification a weight is how often the setting is the best in draws of rows (agnostic Bayes), half by the score and half
    by log loss if there are probabilities; in regression settings are selected greedily, for absolute errors by agnostic Bayes.
    """
    scales, draws = np.ones(len(answers)), rows.draws(seed)
    if rows.y.ndim > 1:
        weights = np.eye(len(answers))[best or 0] if not rule.average else _shares_of_outputs(rows, answers, rule.most)
        return Choice(weights, scales, draws)
    gains = gains_of(rows, answers, rule)
    if answers.response == "decision_function" and rows.classes is not None:
        scales = np.abs(answers.values).mean(axis=(1, 2)).astype(np.float64) + _LEAST_SCALE
    in_draws = draws.counts * rows.weights
    if not rule.average:
        chosen = single_best(gains, rows.weights[None])[0] if best is None else np.eye(len(gains))[best]
        return Choice(chosen, scales, draws, single_best(gains, in_draws), gains)
    if selects_greedily(rows.classes is not None, rule.score.name):
        errors = _errors(rows, answers)
        weights, drawn = greedy(errors, rows.weights[None])[0], greedy(errors, in_draws)
    else:
        rng = np.random.default_rng((seed, 1))
        halves = [gains, *_likelihoods(rows, answers, rule)]
        weights = trimmed(np.mean([agnostic_bayes(half, rows.weights, draws.unit, rng) for half in halves], axis=0))
        drawn = trimmed(np.mean([agnostic_bayes_in_draws(half, rows.weights, draws, rng) for half in halves], axis=0))
    if rule.most is not None:
        weights, drawn = largest(weights, rule.most), largest(drawn, rule.most)
    return Choice(weights, scales, draws, drawn, gains)


def _likelihoods(rows: JudgedRows, answers: Answers, rule: Rule) -> list[Array]:
    """Return the gains by log loss, (m, n), in a list; an empty one if `rule` has this score, or there are no probabilities."""
    if not weighs_by_log_loss(rows.classes is not None, rule.score.name, answers.response):
        return []
    score = score_called(_LOG_LOSS, (_LOG_LOSS,))
    return [gains_of(rows, answers, replace(rule, score=score, calibrated=True, shift=None))]


def _shares_of_outputs(rows: JudgedRows, answers: Answers, most: int | None) -> Array:
    """Return the weights of settings for a target of several columns: greedily, by squared errors in units of each column."""
    errors = answers.values - (rows.aim - rows.location) / rows.scale
    errors = errors.reshape(len(errors), -1)
    weights = greedy(errors, np.ones((1, errors.shape[1])))[0]
    return weights if most is None else largest(weights, most)


def _errors(rows: JudgedRows, answers: Answers) -> Array:
    return np.asarray(answers.values[..., 0] - (rows.aim - rows.location) / rows.scale)


@dataclass(frozen=True, eq=False)
class Combination:
    """An average of settings, or a single one, for judged rows; `scales` divide the answers before the weights (m,) apply.

    `average` and the calibrated `decisions` are (n, k), in regression in the target's unit; `drawn` repeats the choice in draws
    of rows, and is None for a target of several columns.
    """

    weights: Array
    scales: Array
    average: Array
    decisions: Array
    calibration: Calibration | None
    drawn: Drawn | None


def combine(rows: JudgedRows, answers: Answers, rule: Rule, choice: Choice, score: Score) -> Combination:
    """Return the combination that a choice makes, with its score in draws of rows, each on the rows that it leaves out."""
    values = answers.values
    if (choice.scales != 1.0).any():
        values = values / choice.scales[:, None, None].astype(values.dtype)
    average = np.tensordot(choice.weights.astype(values.dtype), values, 1)
    once, shares = np.ones((1, len(rows))), choice.weights[None]
    calibration = None
    if rule.calibrated:
        calibration = _calibration(rows, answers, as_decisions(average[None], answers.response, True), once, shares)
    decisions = _finish(rows, answers, rule, calibration)(average[None], once, shares)

    if choice.in_draws is None:
        return Combination(choice.weights, choice.scales, average, decisions[0], calibration, None)
    finish = _finish(rows, answers, rule, calibration, score.kind == "ranks")

    def for_score(averages: Array, counts: Array, shares: Array) -> Array:
        return rule.for_score(finish(averages, counts, shares), score)

    scores = left_out_scores(values, rows.y, rows.weights, score, choice.draws, choice.in_draws, for_score)
    drawn = _drawn(rows, scores, for_score(average[None], once, shares), score, choice.draws, chosen=True)
    return Combination(choice.weights, choice.scales, average, decisions[0], calibration, drawn)


def single_score(
    rows: JudgedRows, answers: Answers, rule: Rule, draws: Draws, score: Score, start: Calibration | None = None
) -> Drawn:
    """Return the score of a single setting, such as the default, in draws that make no choice.

    Decisions are calibrated only if the score, or a threshold, needs probabilities; `start` is a similar calibration.
    """
    calibrated = rule.moves(score) or (score.kind == "probabilities" and answers.response != "predict_proba")
    rule = replace(rule, calibrated=calibrated)
    alone, once = np.ones((N_DRAWS, 1)), np.ones((1, len(rows)))
    finish = _finish(rows, answers, rule, start, score.kind == "ranks")

    def for_score(averages: Array, counts: Array, shares: Array) -> Array:
        return rule.for_score(finish(averages, counts, shares), score)

    scores = left_out_scores(answers.values, rows.y, rows.weights, score, draws, alone, for_score)
    return _drawn(rows, scores, for_score(answers.values, once, alone[:1]), score, draws)


def constant_score(rows: JudgedRows, rule: Rule, draws: Draws, score: Score) -> Drawn:
    """Return the score of the shares of the classes, or of the mean, of the rows in each draw."""
    counts = draws.counts
    scores = score.values(rule.for_score(rows.constant(counts), score), rows.y, (counts == 0) * rows.weights)
    return _drawn(rows, scores, rule.for_score(rows.constant(np.ones((1, len(rows)))), score), score, draws)


def _drawn(rows: JudgedRows, scores: Array, on_all: Array, score: Score, draws: Draws, chosen: bool = False) -> Drawn:
    value = float(score.values(on_all, rows.y, rows.weights[None])[0])
    return left_out(scores, value, score.name, rows.n_rows, float(draws.drawn.shape[1]), rows.kind, chosen=chosen)


def _finish(
    rows: JudgedRows, answers: Answers, rule: Rule, start: Calibration | None, ranks: bool = False
) -> Callable[[Array, Array, Array], Array]:
    """Return the function that makes decisions, (b, n, k), of averages in draws of rows, (b, n), with shares of settings."""

    def finish(averages: Array, counts: Array, shares: Array) -> Array:
        odds = as_decisions(averages, answers.response, rule.calibrated, ranks)
        return rows.in_units(_calibration(rows, answers, odds, counts, shares, start)(odds) if rule.calibrated else odds)

    return finish


def _calibration(
    rows: JudgedRows, answers: Answers, decisions: Array, counts: Array, shares: Array, start: Calibration | None = None
) -> Calibration:
    """Return the calibration of averages with these shares of the settings, (b, m), in draws of rows, (b, n).

    Rows count as in the fits: for their weight and the factor of their class, which is the geometric mean of the settings'
    factors, as these move the thresholds of log odds. Thresholds that are moved in other ways stay where they are.
    """
    weights = counts * fit_weights_of(rows, answers, shares)
    return calibrate(decisions, rows.y, weights, start, own_threshold=answers.own_threshold)


def fit_weights_of(rows: JudgedRows, answers: Answers, shares: Array) -> Array:
    """Return the weights of rows in the fits of averages with these shares of the settings, (b, m), those of classes included."""
    if answers.factors is None or answers.own_threshold:
        return np.broadcast_to(rows.fit_weights, (len(shares), len(rows)))
    factors = np.exp(shares @ np.log(answers.factors))[:, rows.y]
    factors /= np.average(factors, axis=1, weights=rows.fit_weights)[:, None]
    return np.asarray(rows.fit_weights * factors)
