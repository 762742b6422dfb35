# SPDX-License-Identifier: Apache-2.0
"""Equal error rates, areas under curves, calibration and costs against known values."""

import unittest

import numpy as np

from judge.figures import area_under_curve, equal_error_point, equal_error_rate
from judge.held_out import HeldOut, inside_pages
from judge.speaker_figures import min_detection_cost


class Figures(unittest.TestCase):
    def test_auc_is_the_share_of_rightly_ordered_pairs(self):
        rng = np.random.default_rng(1)
        scores = rng.integers(0, 20, 300).astype(float)  # many ties: they count half
        spoof = rng.random(300) < 0.4
        pairs = scores[spoof][:, None] - scores[~spoof][None, :]
        self.assertAlmostEqual(area_under_curve(scores, spoof), np.mean((pairs > 0) + 0.5 * (pairs == 0)), 12)

    def test_a_clip_of_weight_three_counts_as_three_clips(self):
        rng = np.random.default_rng(2)
        scores, spoof, weights = rng.standard_normal(80), np.arange(80) % 2 == 0, rng.integers(1, 4, 80)
        repeated = np.repeat(np.arange(80), weights)
        for figure in (area_under_curve, equal_error_rate):
            self.assertAlmostEqual(
                figure(scores, spoof, weights.astype(float)), figure(scores[repeated], spoof[repeated]), 12
            )

    def test_equal_error_of_two_normal_distributions(self):
        rng = np.random.default_rng(3)
        spoof = np.arange(200000) % 2 == 1
        rate, threshold = equal_error_point(rng.standard_normal(200000) + 2.0 * spoof, spoof)
        self.assertAlmostEqual(rate, 0.15866, delta=0.003)  # Phi(-1)
        self.assertAlmostEqual(threshold, 1.0, delta=0.02)

    def test_extremes(self):
        spoof = np.array([False, False, True, True])
        self.assertEqual(equal_error_rate(np.array([0.0, 1, 2, 3]), spoof), 0.0)
        self.assertEqual(equal_error_rate(np.array([3.0, 2, 1, 0]), spoof), 1.0)
        self.assertEqual(area_under_curve(np.zeros(4), spoof), 0.5)


class SpeakerFigures(unittest.TestCase):
    same = np.array([True] * 4 + [False] * 6)

    def test_the_detection_cost_of_a_perfect_and_of_a_useless_model(self):
        self.assertEqual(min_detection_cost(self.same.astype(float), self.same), 0.0)
        self.assertAlmostEqual(min_detection_cost(np.zeros(10), self.same), 1.0)

    def test_one_accepted_impostor_of_a_thousand_costs_ninety_nine_times_a_thousandth(self):
        same = np.arange(1100) < 100
        cosines = np.where(same, 0.5, 0.0)
        cosines[1099] = 0.9
        self.assertAlmostEqual(min_detection_cost(cosines, same), 0.99 * 0.001 / 0.01)


class Judging(unittest.TestCase):
    def setUp(self):
        self.clips, logits = [], []
        rng = np.random.default_rng(1)
        for page in range(4):
            for index in range(50):
                spoof = index % 2
                self.clips.append(
                    {
                        "source": f"page-{page}",
                        "label": ("bonafide", "spoof")[spoof],
                        "system": "s" * spoof,
                        "part": "calibration" if page < 2 else "judging",
                    }
                )
                logits.append(rng.standard_normal() + 2 * spoof + page)
        self.logits = np.array(logits)

    def test_inside_a_page_what_differs_between_pages_does_not_count(self):
        pages = inside_pages(HeldOut(self.logits, self.clips, rounds=2))["pages"]
        moved = self.logits + 100 * np.repeat(np.arange(4), 50)
        self.assertEqual(pages, inside_pages(HeldOut(moved, self.clips, rounds=2))["pages"])
        self.assertEqual(len(pages), 4)
