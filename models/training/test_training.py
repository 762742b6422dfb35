# SPDX-License-Identifier: Apache-2.0
"""Run with: python3 -m unittest models/training/test_training.py (from the repository's root, no corpus needed)."""

import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from augmentation import augment
from copy_synthesis import VOCODERS
from figures import area_under_curve, equal_error_point, equal_error_rate
from serving_windows import window_starts, windows_of


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
            self.assertAlmostEqual(figure(scores, spoof, weights.astype(float)), figure(scores[repeated], spoof[repeated]), 12)

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


class Windows(unittest.TestCase):
    def test_starts_follow_the_contract(self):
        seconds = lambda *values: [round(value * 16000) for value in values]
        self.assertEqual(window_starts(12 * 16000), seconds(0, 5, 7))
        self.assertEqual(window_starts(160016), seconds(0, 5.001))
        self.assertEqual(window_starts(10 * 16000), seconds(0, 5))
        self.assertEqual(window_starts(3 * 16000), [0])

    def test_a_short_clip_is_repeated(self):
        samples = np.arange(30000, dtype=np.float32)
        window, = windows_of(samples)
        np.testing.assert_array_equal(window, np.concatenate([samples, samples, samples[:20000]]))


class Signals(unittest.TestCase):
    speech = (np.sin(np.arange(32000) * 0.05) * np.hanning(32000)).astype(np.float32) * 0.5

    def test_augmentation_is_finite_keeps_the_length_and_repeats_with_its_seed(self):
        for seed in range(60):
            for samples in (self.speech, np.zeros(16000, np.float32)):
                first, again = (augment(samples, np.random.default_rng(seed)) for _ in range(2))
                self.assertEqual(first.shape, samples.shape)
                self.assertTrue(np.all(np.isfinite(first)))
                np.testing.assert_array_equal(first, again)

    def test_vocoders_keep_the_pitch_but_not_the_samples(self):
        for name, vocoder in VOCODERS.items():
            copy = vocoder(self.speech, np.random.default_rng(0))
            self.assertEqual(copy.shape, self.speech.shape, name)
            peak = np.argmax(np.abs(np.fft.rfft(copy[8000:24000]))[20:]) + 20
            self.assertAlmostEqual(peak, 0.05 * 16000 / (2 * np.pi), delta=12, msg=name)
            self.assertGreater(np.max(np.abs(copy - self.speech)), 1e-3, name)


if __name__ == "__main__":
    unittest.main()
