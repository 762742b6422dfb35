# SPDX-License-Identifier: Apache-2.0
"""Augmentation, pitch and copies by untrained vocoders."""

import unittest

import numpy as np

from data.engine_sentences import sentences
from data.prepare_corpus import add_copies
from data.speech_engines import ENGINES
from signals.augmentation import augment
from signals.copy_synthesis import VOCODERS, copy
from signals.lpc_vocoder import reflection_coefficients, residual_of, through_filters, whitening_filters
from signals.pitch_tracker import track_pitch_hz
from signals.world_vocoder import BIN_HZ, band_aperiodicity, spectral_envelope
from tests.support import babble, has_torch, needs_torch


class Signals(unittest.TestCase):
    speech = (np.sin(np.arange(32000) * 0.05) * np.hanning(32000)).astype(np.float32) * 0.5

    def test_augmentation_is_finite_keeps_the_length_and_repeats_with_its_seed(self):
        for seed in range(60):
            for samples in (self.speech, np.zeros(16000, np.float32)):
                first, again = (augment(samples, np.random.default_rng(seed)) for _ in range(2))
                self.assertEqual(first.shape, samples.shape)
                self.assertTrue(np.all(np.isfinite(first)))
                np.testing.assert_array_equal(first, again)


def energy_lag(first, second, reach=400):
    """Delay of `second` against `first` in samples, by loudness."""
    loudness = [np.convolve(np.abs(samples), np.hanning(161), "same") for samples in (first, second)]
    loudness = [values - values.mean() for values in loudness]
    return max(range(-reach, reach + 1), key=lambda lag: np.dot(loudness[0], np.roll(loudness[1], -lag)))


class Pitch(unittest.TestCase):
    def test_is_within_three_percent_on_a_gliding_tone(self):
        for low_hz, high_hz in ((75, 120), (150, 300), (300, 450)):
            pitch_hz = np.linspace(low_hz, high_hz, 48000)
            phase = np.cumsum(2 * np.pi * pitch_hz / 16000)
            tone = sum(np.sin(phase * harmonic) / harmonic for harmonic in range(1, 8)).astype(np.float32)
            noise = np.random.default_rng(5).standard_normal(48000).astype(np.float32)
            for hop in (80, 160):
                tracked = track_pitch_hz(0.1 * tone + 0.01 * noise, hop)
                self.assertEqual(len(tracked), 1 + 48000 // hop)
                np.testing.assert_allclose(tracked[10:-10], pitch_hz[::hop][10 : len(tracked) - 10], rtol=0.03)

    def test_noise_and_silence_have_none(self):
        noise = np.random.default_rng(6).standard_normal(32000).astype(np.float32)
        self.assertLess(np.mean(track_pitch_hz(noise, 80) > 0), 0.05)
        self.assertFalse(np.any(track_pitch_hz(np.zeros(16000, np.float32), 80)))


# Without PyTorch: the vocoders that do not need it.
AVAILABLE = [
    name for name in VOCODERS if has_torch or name in ("copy-world", "copy-world-statistical", "copy-lpc-pulses")
]


class Vocoders(unittest.TestCase):
    speech = np.concatenate([np.zeros(4000, np.float32), 0.3 * babble(2.0, 7)])

    def test_copies_keep_length_level_pitch_and_time_but_not_the_samples(self):
        pitch_hz = track_pitch_hz(self.speech, 80)
        for name in AVAILABLE:
            for seed in range(4):
                spoof = copy(name, self.speech, np.random.default_rng(seed))
                self.assertEqual((spoof.shape, spoof.dtype), (self.speech.shape, np.float32), name)
                self.assertAlmostEqual(np.std(spoof) / np.std(self.speech), 1, delta=0.02, msg=name)
                copied_hz = track_pitch_hz(spoof, 80)
                voiced = (pitch_hz > 0) & (copied_hz > 0)
                self.assertGreater(np.mean(voiced), 0.6 * np.mean(pitch_hz > 0), name)
                self.assertAlmostEqual(np.median(copied_hz[voiced] / pitch_hz[voiced]), 1, delta=0.12, msg=name)
                self.assertLess(abs(energy_lag(self.speech, spoof)), 100, f"{name} {seed}")
                self.assertGreater(np.max(np.abs(spoof - self.speech)), 1e-3, name)

    def test_copies_of_silence_and_of_a_short_noise_are_finite(self):
        for name in AVAILABLE:
            for samples in (
                np.zeros(16000, np.float32),
                0.5 * np.random.default_rng(8).standard_normal(16001).astype(np.float32),
            ):
                spoof = copy(name, samples, np.random.default_rng(9))
                self.assertEqual(len(spoof), len(samples), name)
                self.assertTrue(np.all(np.isfinite(spoof)) and np.max(np.abs(spoof)) < 1, name)

    def test_the_envelope_of_a_pulse_train_has_no_harmonics_and_its_aperiodicity_is_low(self):
        pulses = np.zeros(16000, np.float32)
        pulses[::100] = 1  # 160 Hz
        pitch_hz = np.full(201, 160.0)
        decibels = 10 / np.log(10) * spectral_envelope(pulses, pitch_hz, 80)[20:-20, 20:400]
        self.assertLess(np.max(np.abs(decibels - 10 * np.log10(1 / 100))), 1.5)
        noise = np.random.default_rng(10).standard_normal(16000).astype(np.float32)
        upper = slice(int(3000 / BIN_HZ), int(5000 / BIN_HZ))
        self.assertLess(np.mean(band_aperiodicity(pulses, pitch_hz, 80, 5)[20:-20, upper]), 0.01)
        self.assertGreater(np.mean(band_aperiodicity(noise, pitch_hz, 80, 5)[20:-20, upper]), 0.7)

    def test_filters_undo_the_whitening(self):
        predictors = whitening_filters(reflection_coefficients(self.speech, 20))
        rebuilt = through_filters(residual_of(self.speech, predictors), predictors)
        np.testing.assert_allclose(rebuilt, self.speech, atol=1e-6)

    @needs_torch
    def test_a_copy_stands_beside_its_clip_in_the_table(self):
        human = {
            "path": "a.opus",
            "label": "bonafide",
            "split": "train",
            "system": "",
            "source": "s",
            "speaker": "p",
            "category": "",
        }
        clips, audio = (
            [human, {**human, "path": "b.opus", "split": "valid"}],
            [(self.speech * 32767).astype(np.int16)] * 2,
        )
        add_copies(clips, audio, 1, 11)
        self.assertEqual(len(clips), 3)
        self.assertEqual(len(audio[2]), len(self.speech))
        name = next(iter(VOCODERS))
        self.assertEqual(
            clips[2],
            {**human, "path": f"{name}:a.opus", "label": "spoof", "system": name, "category": "own-copy-synthesis"},
        )


class EngineSentences(unittest.TestCase):
    def test_every_voice_can_read_its_language(self):
        rng = np.random.default_rng(12)
        for _, _, voices in ENGINES.values():
            for _, language, encoding in voices:
                texts = [sentences(language, 2, rng) for _ in range(40)]
                self.assertGreater(len(set(texts)), 35)
                for text in texts:
                    self.assertNotRegex(text, r"[{}]")
                    text.encode(encoding or "utf-8")
