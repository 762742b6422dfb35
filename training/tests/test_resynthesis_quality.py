# SPDX-License-Identifier: Apache-2.0
"""Differences of copies and recordings: needs PyTorch and scikit-learn."""

import importlib.util
import unittest

import numpy as np

from data.originals_cache import read_table
from judge.make_conditions import read_wave
from tests.support import WithFolder, babble, has_torch, syllables

has_all = has_torch and importlib.util.find_spec("sklearn") is not None
if has_all:
    from resynthesis import quality


@unittest.skipUnless(has_all, "needs the extra `train`")
class Quality(WithFolder):
    @classmethod
    def setUpClass(cls):
        rng = np.random.default_rng(1)
        cls.humans = [np.float32(babble(1.2, seed) * rng.uniform(0.3, 1)) for seed in range(20)]
        cls.pages = np.arange(20) // 4

    def figures(self, change):
        pairs = [(human, np.float32(change(human))) for human in self.humans]
        return quality.measure(pairs, self.pages)

    def test_noise_in_place_of_phases_is_told_from_recordings_and_an_inverted_copy_is_not(self):
        rng = np.random.default_rng(2)

        def scrambled(samples):
            spectrum = np.fft.rfft(samples)
            return np.fft.irfft(np.abs(spectrum) * np.exp(2j * np.pi * rng.random(len(spectrum))), len(samples))

        given_away, same = self.figures(scrambled), self.figures(lambda samples: -samples)
        self.assertGreater(given_away["probe"], 0.95)
        self.assertLess(abs(same["probe"] - 0.5), 0.05)
        self.assertLess(abs(same["floor"] - 0.5), 0.05)
        self.assertGreater(given_away["lsd"], 5)
        for name in ("lsd", "loudness", "sc", "lag"):
            self.assertLess(same[name], 1e-3, name)

    def test_transfer_learns_from_no_page_that_it_is_tried_on(self):
        rng = np.random.default_rng(3)
        pairs = [(human, np.float32(human + 0.01 * rng.standard_normal(len(human)))) for human in self.humans]
        numbers = np.stack([quality.fine_structure(samples) for pair in pairs[:4] for samples in pair])
        labels = np.arange(8) % 2 == 1
        self.assertEqual(quality.measure(pairs, self.pages, (numbers, labels, {0}))["transfer"], 1)
        # Only the page with wrong labels could suggest that copies are recordings.
        swapped = [*((copy, human) for human, copy in pairs[:4]), *pairs[4:]]
        self.assertEqual(quality.measure(swapped, self.pages, (numbers, labels, {0}))["transfer"], 1)

    def test_pairs_are_written_for_a_detector_to_judge(self):
        clips = [{"repository": f"page-{page}"} for page in self.pages]
        pairs = [(human, -0.5 * human) for human in self.humans]
        quality.write_pairs(self.folder / "pairs", "flow", clips, pairs, 24000)
        rows = read_table(self.folder / "pairs" / "list.csv")
        self.assertEqual([row["label"] for row in rows], ["bonafide", "spoof"] * len(pairs))
        for number, row in enumerate(rows):
            self.assertEqual((row["system"], row["source"]), (("", "flow")[number % 2], f"page-{number // 8}"))
            samples, rate_hz = read_wave(self.folder / "pairs" / row["path"])
            self.assertEqual(rate_hz, 24000)
            np.testing.assert_allclose(samples, np.clip(pairs[number // 2][number % 2], -1, 1), atol=1 / 32768)

    def test_a_louder_copy_is_told_by_the_floor_alone(self):
        figures = self.figures(lambda samples: 30 * samples)
        self.assertGreater(figures["floor"], 0.95)
        self.assertLess(abs(figures["probe"] - 0.5), 0.1)

    def test_a_late_copy_is_as_late_as_it_is(self):
        humans = [syllables(1.2, 16000, seed) for seed in range(10)]
        pairs = [(human, np.pad(human, (320, 0))[: len(human)]) for human in humans]
        self.assertAlmostEqual(quality.measure(pairs, np.arange(10) // 2)["lag"], 20, delta=2)
