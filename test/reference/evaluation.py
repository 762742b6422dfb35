# SPDX-License-Identifier: Apache-2.0
"""Writes the numbers that test/evaluation/figures.test.ts compares src/evaluation/figures with.

    /usr/bin/python3 test/reference/evaluation.py            writes test/reference/evaluation.json

Everything comes from scikit-learn and SciPy, or from the definition by brute force; nothing here calls our own code.
"""

import json
from pathlib import Path

import numpy as np
from scipy.interpolate import interp1d
from scipy.optimize import brentq
from scipy.stats import binomtest, norm
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score, roc_curve

FILE = Path(__file__).resolve().parent / "evaluation.json"
COSTS = [[0.95, 0.5], [0.99, 0.01], [0.95, 0.05]]  # of a false positive and of a false negative


def equal_error_rate(positive, scores, weights):
    fpr, tpr, _ = roc_curve(positive, scores, sample_weight=weights, drop_intermediate=False)
    return brentq(lambda rate: 1 - rate - interp1d(fpr, tpr)(rate), 0, 1, xtol=1e-14)


def minimal_cost(positive, scores, weights, false_positive_cost, false_negative_cost):
    lowest = np.inf
    for threshold in [*scores, np.inf]:
        taken = scores >= threshold
        false_positive = weights[taken & ~positive].sum() / weights[~positive].sum()
        false_negative = weights[~taken & positive].sum() / weights[positive].sum()
        lowest = min(lowest, false_positive_cost * false_positive + false_negative_cost * false_negative)
    return lowest / min(false_positive_cost, false_negative_cost)


def calibration_error(positive, scores):
    bins = np.minimum((scores * 10).astype(int), 9)
    gaps = [(bins == b).sum() * abs(scores[bins == b].mean() - positive[bins == b].mean()) for b in set(bins)]
    return sum(gaps) / len(bins)


def case(name, positive, scores, weights=None):
    scores = np.round(np.clip(scores, 0, 1), 6)
    given = np.ones(len(scores)) if weights is None else weights
    return {
        "name": name,
        "positive": positive.tolist(),
        "scores": scores.tolist(),
        "weights": None if weights is None else weights.tolist(),
        "auc": roc_auc_score(positive, scores, sample_weight=weights),
        "eer": equal_error_rate(positive, scores, weights),
        "costs": [[*cost, minimal_cost(positive, scores, given, *cost)] for cost in COSTS],
        # The two below do not take weights.
        "brier": brier_score_loss(positive, scores),
        "log_loss": log_loss(positive, np.clip(scores, 1e-6, 1 - 1e-6)),
        "calibration_error": calibration_error(positive, scores),
    }


def main():
    rng = np.random.default_rng(20261121)

    def drawn(count, share, distance):
        positive = rng.random(count) < share
        positive[:2] = [True, False]
        return positive, 1 / (1 + np.exp(-(rng.normal(size=count) * 2 + distance * (positive - 0.5))))

    positive, scores = drawn(200, 0.3, 4)
    uneven, uneven_scores = drawn(120, 0.1, 2)
    cases = [
        case("two overlapping classes", positive, scores),
        case("with weights", positive, scores, np.round(rng.uniform(0.1, 3, 200), 4)),
        case("with weights of 0, as in a bootstrap", positive, scores, rng.poisson(1, 200).astype(float)),
        case("many ties", uneven, np.round(uneven_scores, 1)),
        case("worse than chance", ~uneven, uneven_scores),
        case("separate", np.arange(20) >= 12, np.arange(20) / 20),
        case("all alike", np.arange(9) >= 4, np.full(9, 0.5)),
        case("one of each", np.array([True, False]), np.array([0.2, 0.7])),
        case("scores at both ends", np.array([True, True, False, False, True, False]), np.array([0, 1, 0, 1, 1, 0.0])),
    ]
    shares = [(0, 1), (1, 1), (0, 10), (10, 10), (1, 400), (13, 380), (250, 1029)]
    wilson = [[k, n, *binomtest(k, n).proportion_ci(0.95, "wilson")] for k, n in shares]
    probits = [[p, norm.ppf(p)] for p in (1e-4, 0.001, 0.02, 0.2, 0.5, 0.7, 0.95, 0.9999)]
    FILE.write_text(json.dumps({"cases": cases, "wilson": wilson, "probit": probits}, indent=1) + "\n")


if __name__ == "__main__":
    main()
