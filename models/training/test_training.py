# SPDX-License-Identifier: Apache-2.0
"""Run with: python3 -m unittest models/training/test_training.py (from the repository's root, no corpus needed)."""

import sys
import unittest
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))

import neural_vocoders
from augmentation import augment
from copy_synthesis import VOCODERS
from figures import area_under_curve, equal_error_point, equal_error_rate
from evaluate_speaker import calibrate, min_detection_cost, similarity
from make_neural_copies import lag_samples, resynthesise, rms
from serving_windows import voiced_windows_of, window_starts, windows_of
from speaker_sampler import stretch
from speaker_trials import all_trials, divide, is_same_recording, median_pitch_hz


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

    def test_a_window_with_a_fifth_of_speech_is_kept_and_one_with_less_is_not(self):
        samples, decisions = np.zeros(160000, np.float32), np.zeros(1000, np.uint8)
        decisions[100:200] = 1  # 1.00 s of 5 s: exactly 80 % without speech
        decisions[700:799] = 1
        self.assertEqual(len(voiced_windows_of(samples, decisions)), 1)


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


class FakeCache:
    def samples(self, clip):
        return clip["audio"]


def babble(seconds, seed):
    """Bursts of harmonics in noise, which the voice activity detector takes for speech often enough."""
    rng, count = np.random.default_rng(seed), int(seconds * 16000)
    phase = np.cumsum(2 * np.pi * (120 + 30 * np.sin(np.arange(count) / 9000)) / 16000)
    voice = sum(np.sin(phase * harmonic) / harmonic for harmonic in range(1, 20))
    return (0.1 * voice * (1 + np.sin(np.arange(count) / 800)) + 0.001 * rng.standard_normal(count)).astype(np.float32)


class NeuralVocoders(unittest.TestCase):
    words = babble(2.0, 5) * (np.sin(np.arange(32000) / 3000) > 0)

    def test_copies_of_untrained_vocoders_are_finite_and_as_long_as_loud_and_as_early_as_the_clip(self):
        torch.manual_seed(0)
        analysis = neural_vocoders.Analysis(bands=60, warp=1.05, blur_frames=0.5, noise=0.05, codebooks=3)
        for name, vocoder in neural_vocoders.VOCODERS.items():
            for samples in (self.words, self.words[:-77], 1e-6 * self.words, np.zeros(16000, np.float32)):
                copy = resynthesise(vocoder().eval(), samples, analysis)
                self.assertEqual(copy.shape, samples.shape, name)
                self.assertTrue(np.all(np.isfinite(copy)), name)
            copy = resynthesise(vocoder().eval(), self.words, analysis)
            self.assertAlmostEqual(rms(copy) / rms(self.words), 1, delta=1e-3, msg=name)
            if "codec" not in name:  # untrained codes say nothing of loudness
                self.assertLessEqual(abs(lag_samples(copy, self.words)), 160, name)

    def test_a_frame_reaches_only_its_neighbours_through_the_codec(self):
        torch.manual_seed(0)
        codec = neural_vocoders.Codec().eval()
        log_mel = torch.randn(1, neural_vocoders.MEL_BANDS, 60)
        changed = log_mel.clone()
        changed[:, :, 30] += 3
        with torch.no_grad():
            decoded = [codec(frames, 8)[0] for frames in (log_mel, changed)]
        moved = torch.nonzero((decoded[0] - decoded[1]).abs().amax((0, 1)) > 1e-5).flatten()
        self.assertGreater(len(moved), 0)
        self.assertGreaterEqual(int(moved.min()), 21)  # three convolutions over seven frames
        self.assertLessEqual(int(moved.max()), 39)

    def test_the_pitch_of_pulses_is_that_of_the_clip(self):
        pitch, voiced = neural_vocoders.pitch_contour_hz(np.float32(np.cumsum(np.ones(16000)) * 150 / 16000 % 1 - 0.5))
        self.assertGreater(voiced[2000:14000].mean(), 0.99)
        np.testing.assert_allclose(pitch[2000:14000], 150, rtol=0.01)


class SpeakerTrials(unittest.TestCase):
    def test_no_clip_is_in_the_enrolment_and_in_a_sample_of_it(self):
        recordings = ([], [])
        for speaker in ("a", "b"):
            clips = [{"path": f"{speaker}{number}", "audio": babble(2.5, number)} for number in range(9)]
            enrolled, tests = divide(("source", speaker), clips, FakeCache(), 0, np.random.default_rng(1), (1.0,))
            self.assertGreaterEqual(len(enrolled.samples), 160000)
            self.assertTrue(tests[1.0])
            for test in tests[1.0]:
                self.assertFalse(set(enrolled.paths) & set(test.paths))
            recordings[0].append(enrolled)
            recordings[1].extend(tests[1.0])
        trials = all_trials(*recordings)
        self.assertEqual(int(trials.same.sum()), len(recordings[1]))
        self.assertEqual(len(trials.same), 2 * len(recordings[1]))

    def test_a_quieter_later_copy_is_the_same_recording_and_another_one_is_not(self):
        rng = np.random.default_rng(2)
        first, second = rng.standard_normal(32000).astype(np.float32), rng.standard_normal(32000).astype(np.float32)
        self.assertTrue(is_same_recording(first, 0.1 * first[5000:25000]))
        self.assertFalse(is_same_recording(first, second))

    def test_speed_moves_the_pitch(self):
        samples = babble(3.0, 3)
        before, after = median_pitch_hz(samples), median_pitch_hz(stretch(samples, round(len(samples) / 1.1)))
        self.assertAlmostEqual(before, 120, delta=20)
        self.assertAlmostEqual(after / before, 1.1, delta=0.03)


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

    def test_half_is_the_equal_error_point_after_calibration(self):
        rng = np.random.default_rng(4)
        same = np.arange(4000) % 4 == 0
        cosines = rng.normal(np.where(same, 0.6, 0.1), 0.15)
        accepted = similarity(cosines, calibrate(cosines, same)) >= 0.5
        self.assertAlmostEqual(np.mean(accepted[~same]), np.mean(~accepted[same]), delta=0.005)


if __name__ == "__main__":
    unittest.main()
