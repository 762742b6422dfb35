# SPDX-License-Identifier: Apache-2.0
"""Augmentation of training crops."""

import argparse
import unittest
from unittest import mock

import numpy as np

from features.recipe import PHASE_COHERENCE, SAMPLE_RATE_HZ
from signals.augmentation import (
    CHANGES,
    add_echoes,
    add_noise,
    add_tones,
    in_room,
    mains_hum,
)
from tests.support import WithFolder, babble
from window_curves import bank

SECONDS = np.arange(5 * SAMPLE_RATE_HZ) / SAMPLE_RATE_HZ


def level(samples):
    return np.sqrt(np.mean(np.square(samples)))


def below_db(samples, added):
    """Distance of the added sound below the samples."""
    return 20 * np.log10(level(samples) / level(added))


def lines_of(samples):
    """The bins of the spectrum within 60 dB of the highest."""
    spectrum = np.abs(np.fft.rfft(samples))
    return np.flatnonzero(spectrum > 1e-3 * spectrum.max())


def loudest_hz(samples):
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return np.argmax(spectrum) * SAMPLE_RATE_HZ / len(samples)


class EveryChange(unittest.TestCase):
    def test_it_keeps_the_length_and_depends_on_the_generator_alone(self):
        samples = babble(5.0, 3)[:80000].astype(np.float32)
        for name, change in CHANGES.items():
            before = samples.copy()
            changed = [change(samples, np.random.default_rng(seed)) for seed in (1, 1, 2)]
            np.testing.assert_array_equal(samples, before, name)
            np.testing.assert_array_equal(changed[0], changed[1], name)
            self.assertGreater(np.abs(changed[2] - changed[0]).max(), 1e-4, name)
            self.assertEqual((changed[0].shape, changed[0].dtype), (samples.shape, np.float32), name)

    def test_it_stands_silence_and_short_crops(self):
        for count in (800, 14400):
            for name, change in CHANGES.items():
                for samples in (np.zeros(count, np.float32), babble(1.0, 4)[:count].astype(np.float32)):
                    for seed in range(3):
                        changed = change(samples, np.random.default_rng(seed))
                        self.assertEqual(len(changed), count, name)
                        self.assertTrue(np.isfinite(changed).all(), name)


class Changes(unittest.TestCase):
    def test_hum_lies_at_multiples_of_its_frequency_and_below_the_level(self):
        samples = babble(5.0, 4)[:80000].astype(np.float32)
        for seed in range(5):
            hum = mains_hum(samples, np.random.default_rng(seed)) - samples
            self.assertTrue(9.9 < below_db(samples, hum) < 50.1)
            lines = lines_of(hum)
            self.assertTrue(48 < lines[0] / 5 < 62, lines)
            self.assertTrue(np.all(lines % lines[0] == 0), lines)

    def test_tones_are_few_and_below_the_level(self):
        samples = babble(5.0, 4)[:80000].astype(np.float32)
        for seed in range(5):
            tones = add_tones(samples, np.random.default_rng(seed)) - samples
            self.assertTrue(14.9 < below_db(samples, tones) < 50.1)
            lines = lines_of(tones)
            self.assertIn(len(lines), range(1, 5))
            self.assertTrue(np.all((lines > 79 * 5) & (lines < 7601 * 5)), lines)

    def test_a_room_and_echoes_keep_level_and_length_and_come_after_the_sound(self):
        samples = np.zeros(80000, np.float32)
        samples[20000:40000] = babble(5.0, 4)[:20000]
        for change in (in_room, add_echoes):
            for seed in range(5):
                heard = change(samples, np.random.default_rng(seed))
                self.assertEqual((heard.shape, heard.dtype), (samples.shape, np.float32))
                self.assertAlmostEqual(np.linalg.norm(heard) / np.linalg.norm(samples), 1, places=3)
                self.assertLess(np.abs(heard[:19999]).max(), 1e-5)
                self.assertGreater(np.abs(heard[40000:40100]).max(), 1e-4)

    def test_echoes_are_copies_of_the_sound(self):
        click = np.zeros(4000, np.float32)
        click[100] = 1
        for seed in range(20):
            places = np.flatnonzero(np.abs(add_echoes(click, np.random.default_rng(seed))) > 1e-3)
            self.assertEqual(places[0], 100)
            self.assertIn(len(places), range(2, 6))
            self.assertGreaterEqual(places[1], 100 + 0.0005 * 16000)
            self.assertLessEqual(places[-1], 100 + 0.12 * 16000 + 1)

    def test_noise_is_as_strong_as_its_ratio_says(self):
        samples = babble(5.0, 4)[:80000].astype(np.float32)
        for seed in range(5):
            noise = add_noise(samples, np.random.default_rng(seed)) - samples
            self.assertTrue(4.9 < below_db(samples, noise) < 45.1)


class Banks(WithFolder):
    def test_a_bank_sends_its_crops_through_what_is_named(self):
        options = argparse.Namespace(kind=PHASE_COHERENCE, cache=self.folder, seed=1, without=[])
        options.out, options.changes = self.folder, [("hum", 0.5), ("room", 1.0)]
        expected = [(0.5, mains_hum), (1.0, in_room)]
        with mock.patch.object(bank, "CorpusCache"), mock.patch.object(bank, "CropSampler"):
            made = np.zeros(1), np.zeros(1)
            with mock.patch.object(bank, "curves_of_crops", return_value=made) as curves_of_crops:
                bank.write_file(options, 3)
        self.assertEqual(curves_of_crops.call_args.args[3], expected)

    def test_names_and_shares_are_checked(self):
        self.assertEqual(bank.change_option("room=0.5"), ("room", 0.5))
        for wrong in ("rooms=0.5", "room=1.5", "room", "room=", "room=nan"):
            with self.assertRaises(ValueError):
                bank.change_option(wrong)


if __name__ == "__main__":
    unittest.main()
