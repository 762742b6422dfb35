# SPDX-License-Identifier: Apache-2.0
"""Predictions for strangers in a list, compared with draws."""

import unittest

import numpy as np

from judge.strangers import best_of_lists, fit, reached_by_best


class Strangers(unittest.TestCase):
    def test_a_cosine_of_one_does_not_spoil_the_fit(self):
        fitted = fit(np.array([1.0, -1.0, 0.0]))
        self.assertTrue(np.isfinite([fitted["mean"], fitted["sd"]]).all())

    def test_only_samples_with_enough_strangers_count(self):
        cosines, tested = np.array([0.1, 0.2, 0.9]), np.array([0, 0, 1])
        best = best_of_lists(cosines, tested, 2, np.random.default_rng(0))
        self.assertEqual(set(best), {0.2})

    def test_the_fit_is_that_of_the_draws_and_predicts_their_largest(self):
        rng = np.random.default_rng(1)
        fitted = fit(np.tanh(rng.normal(0.2, 0.25, 100_000)))
        self.assertAlmostEqual(fitted["mean"], 0.2, delta=0.005)
        self.assertAlmostEqual(fitted["sd"], 0.25, delta=0.005)
        largest = np.tanh(rng.normal(0.2, 0.25, (20_000, 10))).max(axis=1)
        for share in (0.5, 0.05):
            self.assertAlmostEqual(np.mean(largest > reached_by_best(fitted, 10, share)), share, delta=0.02)


if __name__ == "__main__":
    unittest.main()
