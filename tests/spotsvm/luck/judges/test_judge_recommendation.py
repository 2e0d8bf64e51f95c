import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.errors import ArgumentError
from spotsvm.luck.judges.judges import Judgement, judge_recommendation

SPACE = {"x": uniform(0, 1)}


def noisy(params, seed):
    return 5 * (params["x"] - 0.3) ** 2 + 0.5 * (1 + params["x"]) * np.random.default_rng(seed).normal()


def told(values, direction="minimize", noise=True):
    """Return a study with these values at x from 0 to 1."""
    study = Study(SPACE, "random", 0, noise=noise, direction=direction)
    for value in values:
        study.tell(study.ask(), value)
    return study


@pytest.fixture
def lucky():
    """Return a study in which the best seen lies far off the valley: one value there is too good."""
    study = Study(SPACE, "random", 0, noise=True)
    seen = []
    for _ in range(40):
        trial = study.ask()
        seen.append(trial)
        study.tell(trial, 5 * (trial.params["x"] - 0.3) ** 2 + (-4.0 if len(seen) == 1 else 0.0))
    assert study.recommend().number != study.recommend().best_seen_number == 0
    return study


def test_the_lucky_one_is_found_out(lucky):
    judgement = judge_recommendation(lucky, noisy)
    chosen = lucky.recommend()
    seeds = [int(s) for s in np.random.SeedSequence([0, 1 << 43]).generate_state(20)]
    a = [noisy(chosen.params, s) for s in seeds]
    b = [noisy(chosen.best_seen_params, s) for s in seeds]
    assert judgement.recommended_fresh == pytest.approx(np.mean(a))
    assert judgement.best_seen_fresh == pytest.approx(np.mean(b))
    expected = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert judgement.interval == pytest.approx((expected.low, expected.high))
    assert (judgement.verdict, judgement.paired, judgement.n_fresh) == ("recommended", True, 20)
    assert "The recommended trial is better by" in judgement.sentence


def test_of_scores_a_larger_one_is_better(lucky):
    turned = told([-t.value for t in lucky.trials], "maximize")
    judgement = judge_recommendation(turned, lambda params, seed: -noisy(params, seed))
    other = judge_recommendation(lucky, noisy)
    assert judgement.verdict == "recommended"
    assert judgement.value == pytest.approx(other.value)
    assert judgement.value > 0
    assert judgement.recommended_fresh == pytest.approx(-other.recommended_fresh)


def test_an_objective_without_a_seed_is_compared_without_pairs(lucky):
    rng = np.random.default_rng(1)
    judgement = judge_recommendation(lucky, lambda params: noisy(params, rng.integers(2**32)), 30)
    assert not judgement.paired
    assert judgement.interval[0] < judgement.value < judgement.interval[1]


def test_chance_can_decide_and_the_best_seen_can_win(lucky):
    judgement = judge_recommendation(
        lucky, lambda params, seed: params["x"] * 1e-9 + np.random.default_rng([seed, int(1e6 * params["x"])]).normal()
    )
    assert judgement.verdict == "no clear difference"
    assert judgement.interval[0] < 0 < judgement.interval[1]
    best = lucky.recommend().best_seen_params["x"]
    judgement = judge_recommendation(lucky, lambda params, seed: abs(params["x"] - best) + 1e-3 * noisy(params, seed))
    assert judgement.verdict == "best seen"
    assert judgement.value < 0
    assert "The best seen trial is better by" in judgement.sentence


def test_one_configuration_is_evaluated_once():
    study = told([0.5, 0.1, 0.7], noise=False)
    calls = []

    def objective(params, seed):
        calls.append(seed)
        return 1.0

    judgement = judge_recommendation(study, objective, 5)
    assert (judgement.verdict, judgement.value, judgement.known) == ("same", 0.0, False)
    assert len(calls) == len(set(calls)) == 5
    assert judgement.best_seen_value == 0.1
    assert judgement.best_seen_fresh == 1.0


def test_it_is_a_finding_and_no_trial_wherever_it_is_evaluated(lucky):
    before = lucky.trials
    with ThreadPoolExecutor(2) as executor:
        judgement = judge_recommendation(lucky, noisy, executor=executor)
    assert judgement == judge_recommendation(lucky, noisy)
    assert lucky.trials == before
    finding = json.loads(json.dumps(lucky.findings["judgement"]))
    assert Judgement.from_dict(finding) == judgement
    assert (finding["verdict"], finding["sentence"]) == (judgement.verdict, judgement.sentence)


def test_evaluations_that_fail_are_left_out_in_pairs(lucky):
    def failing(params, seed):
        if seed % 3 == 0 and params["x"] < 0.5:
            raise ValueError("no")
        return noisy(params, seed)

    judgement = judge_recommendation(lucky, failing)
    seeds = [int(s) for s in np.random.SeedSequence([0, 1 << 43]).generate_state(20)]
    left = [s for s in seeds if s % 3]
    assert judgement.n_failed == 20 - len(left)
    assert judgement.n_fresh == len(left)
    assert judgement.best_seen_fresh == pytest.approx(np.mean([noisy(lucky.recommend().best_seen_params, s) for s in left]))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"n_repeats": 1}, "n_repeats=1"),
        ({"n_repeats": 2.5}, "n_repeats=2.5"),
        ({"confidence": 95}, "confidence=95"),
        ({"objective": 3}, "objective=3 is not callable"),
        ({"objective": lambda params: "x"}, "all fresh evaluations of .* failed: the objective returned 'x'"),
    ],
)
def test_bad_input(lucky, changed, words):
    with pytest.raises(ArgumentError, match=words):
        judge_recommendation(lucky, **({"objective": noisy} | changed))


def test_an_objective_that_takes_the_trial_gets_the_seeds_in_it(lucky):
    numbers = set()

    def with_trial(params, trial):
        numbers.add(trial.number)
        trial.attributes["seen"] = True
        return noisy(params, trial.seed)

    found = judge_recommendation(lucky, with_trial, 20)
    assert found == judge_recommendation(lucky, noisy, 20)
    assert found.paired
    assert numbers == {found.recommended_number, found.best_seen_number}
