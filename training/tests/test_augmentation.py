# SPDX-License-Identifier: Apache-2.0
"""Augmentation of training crops."""

import argparse
import contextlib
import io
import unittest
from unittest import mock

import numpy as np

from data.sampler import CropSampler, add_changes_option, named_changes
from features.recipe import MEAN_SPECTRUM, SAMPLE_RATE_HZ
from signals.augmentation import (
    CHANGES,
    _slowed,
    add_echoes,
    add_noise,
    add_tones,
    change_pitch_or_tempo,
    compress,
    in_room,
    mains_hum,
    saturate,
)
from tests.support import WithFolder, babble, syllables
from tests.test_sampler import NotingCache
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
    def test_compression_brings_loud_and_quiet_parts_nearer(self):
        tone = np.sin(2 * np.pi * 300 * SECONDS).astype(np.float32)
        tone[: len(tone) // 2] *= 0.1
        half = len(tone) // 2
        for seed in range(20):
            heard = compress(tone, np.random.default_rng(seed))
            # Away from the step, where the level is still being followed.
            apart_db = 20 * np.log10(level(heard[half + 8000 :]) / level(heard[8000 : half - 8000]))
            self.assertTrue(20 / 12 < apart_db < 18, apart_db)
            self.assertAlmostEqual(loudest_hz(heard[half:]), 300, delta=1)

    def test_saturation_bends_peaks_at_the_same_level(self):
        tone = np.sin(2 * np.pi * 300 * SECONDS).astype(np.float32)
        for seed in range(20):
            bent = saturate(tone, np.random.default_rng(seed))
            spectrum = np.abs(np.fft.rfft(bent))
            self.assertGreater(spectrum[1500 * np.arange(2, 10)].max(), 0.01 * spectrum[1500])
            self.assertAlmostEqual(level(bent), level(tone), places=4)
            self.assertAlmostEqual(bent.mean(), 0, places=4)
            # Quiet sound is not bent: near 0 the curve is a straight line, steeper than before.
            near = np.abs(tone) < 0.05
            slope, offset = np.polyfit(tone[near], bent[near], 1)
            self.assertGreater(slope, 1)
            np.testing.assert_allclose(bent[near], slope * tone[near] + offset, atol=0.02)

    def test_pitch_or_tempo_changes_one_of_the_two(self):
        tone = np.sin(2 * np.pi * 440 * SECONDS).astype(np.float32)
        beats = tone * (np.sin(2 * np.pi * 2 * SECONDS) > 0)
        kinds = set()
        for seed in range(20):
            pitch = loudest_hz(change_pitch_or_tempo(tone, np.random.default_rng(seed))[4000:-4000]) / 440
            envelope = np.abs(change_pitch_or_tempo(beats, np.random.default_rng(seed)))
            envelope = envelope[: len(envelope) // 2]
            spectrum = np.abs(np.fft.rfft((envelope - envelope.mean()) * np.hanning(len(envelope)), 40 * len(envelope)))
            tempo = np.argmax(spectrum[: 40 * 10]) * SAMPLE_RATE_HZ / (40 * len(envelope)) / 2
            self.assertTrue(0.88 < pitch < 1.14 and 0.86 < tempo < 1.16, (pitch, tempo))
            self.assertTrue(abs(pitch - 1) < 0.003 or abs(tempo - 1) < 0.02, (pitch, tempo))
            kinds.add("pitch" if abs(pitch - 1) > 0.01 else "tempo" if abs(tempo - 1) > 0.02 else "neither")
        self.assertTrue({"pitch", "tempo"} <= kinds, kinds)

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

    def test_frames_are_laid_where_they_fit(self):
        samples = syllables(5, SAMPLE_RATE_HZ, 5)
        same = _slowed(samples, 1.0)
        np.testing.assert_allclose(same[640:-640], samples[640 : len(same) - 640], atol=1e-5)


class Options(WithFolder):
    def test_a_bank_sends_its_crops_through_what_is_named(self):
        options = argparse.Namespace(kind=MEAN_SPECTRUM, cache=self.folder, seed=1, without=[], hold_out=None)
        options.out, options.changes = self.folder, [("hum", 0.5), ("room", 1.0)]
        expected = [(0.5, mains_hum), (1.0, in_room)]
        with mock.patch.object(bank, "CorpusCache"), mock.patch.object(bank, "CropSampler"):
            made = np.zeros(1), np.zeros(1)
            with mock.patch.object(bank, "curves_of_crops", return_value=made) as curves_of_crops:
                bank.write_file(options, 3)
        self.assertEqual(curves_of_crops.call_args.args[3], expected)


class Shares(unittest.TestCase):
    def test_so_many_crops_of_either_class_go_through_each_change(self):
        mark = lambda samples, rng: np.where(np.arange(len(samples)) == len(samples) // 2, 7, samples)
        marked, labels = CropSampler(NotingCache(), 1, 256, ["augmentation", "codecs"], changes=[(0.3, mark)]).batch(0)
        is_marked = (marked == 7).any(1)
        for label in (0, 1):
            self.assertTrue(0.15 < is_marked[labels == label].mean() < 0.45)

    def test_both_crops_of_a_copy_pair_go_through_the_same_change(self):
        cache = NotingCache()
        cache.samples = lambda clip, variant=0, start=0, count=None: np.ones(count, np.float32)
        numbered = lambda samples, rng: samples * np.float32(rng.random())
        sampler = CropSampler(cache, 1, 2, ["augmentation", "codecs"], changes=[(1.0, numbered)])
        sampler._draw_pair = sampler._draw_copy_pair
        for index in range(10):
            (human, copy), _ = sampler.batch(index)
            self.assertEqual(human.max(), copy.max())

    def test_names_and_shares_are_checked(self):
        parser = argparse.ArgumentParser()
        add_changes_option(parser)
        chosen = parser.parse_args(["--changes", "room=0.5", "hum=1"]).changes
        self.assertEqual(named_changes(chosen), [(0.5, in_room), (1.0, mains_hum)])
        self.assertEqual(parser.parse_args([]).changes, [])
        for wrong in ("rooms=0.5", "room=1.5", "room", "room=", "room=nan"):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                parser.parse_args(["--changes", wrong])


if __name__ == "__main__":
    unittest.main()
