# SPDX-License-Identifier: Apache-2.0
"""Run with: python3 -m unittest tests.test_training (from training/; no corpus needed)."""

import importlib.util
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch

from networks import neural_vocoders
from signals.augmentation import augment
from signals.copy_synthesis import VOCODERS, copy
from data.corpus_cache import SAMPLE_RATE_HZ
from networks.detector import SIZES, Detector, export_onnx
from judge.detector_card import learning_curve, percent, score_shifts, table
from data.engine_sentences import sentences
from networks.ensemble import Ensemble, OwnFeatures
from judge.figures import area_under_curve, equal_error_point, equal_error_rate
from judge.evaluate_speaker import calibrate, min_detection_cost, similarity
from signals.lpc_vocoder import whitening_filters, reflection_coefficients, residual_of, through_filters
from data.make_neural_copies import lag_samples, resynthesise, rms
from features.native import FeatureExtractor
from signals.pitch_tracker import track_pitch_hz
from data.prepare_corpus import add_copies
from features.recipe import ENSEMBLE_FEATURES, FEATURES, MEL_FEATURES, RECIPES
from data.sampler import CropSampler, fold_of, repeat_sound, repeat_to_length
from judge.serving_windows import voiced_windows_of, window_starts, windows_of
from data.speaker_sampler import stretch
from judge.speaker_trials import all_trials, divide, is_same_recording, median_pitch_hz
from data.speech_engines import ENGINES
from train.detector import targets_of
from signals.world_vocoder import BIN_HZ, band_aperiodicity, spectral_envelope


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


class NotingCache:
    """Noise for every clip, and a note of which clips were drawn."""

    variants = 3

    def __init__(self):
        self.clips = []
        self.drawn = []
        for source in ("a", "b", "c", "d"):
            human = self._add(f"{source}/human", "bonafide", "", source, "")
            self._add(f"{source}/tts", "spoof", f"system-{source}", source, "tts")
            self._add(f"{source}/engine", "spoof", "engine", source, "speech-engine")
            for system in ("copy-griffin-lim", "copy-neural-istft"):
                self._add(f"{system}:{human['path']}", "spoof", system, source, "own-copy-synthesis")

    def _add(self, path, label, system, source, category):
        clip = {"path": path, "label": label, "split": "train", "system": system, "source": source, "speaker": source,
                "category": category, "samples": 6 * SAMPLE_RATE_HZ}
        self.clips.append(clip)
        return clip

    def samples(self, clip, variant=0, start=0, count=None):
        self.drawn.append((clip["path"], variant))
        return np.random.default_rng(len(clip["path"])).standard_normal(count).astype(np.float32)


def drawn(without=(), held_out=None):
    cache = NotingCache()
    sampler = CropSampler(cache, 1, 32, without, held_out)
    for index in range(6):
        sampler.batch(index)
    return cache.drawn


class CropsWithout(unittest.TestCase):
    def test_a_part_that_is_left_out_is_never_drawn(self):
        is_of = {"neural-copies": lambda path, _: "neural" in path, "classical-copies": lambda path, _: "griffin" in path,
                 "copies": lambda path, _: ":" in path, "engines": lambda path, _: "engine" in path,
                 "codecs": lambda _, variant: variant > 0}
        every = drawn()
        for part, is_part in is_of.items():
            self.assertTrue(any(is_part(*crop) for crop in every), part)
            self.assertFalse(any(is_part(*crop) for crop in drawn([part])), part)

    def test_nothing_of_a_held_out_source_is_drawn(self):
        held_out = [source for source in "abcd" if fold_of(source, 2) == 1]
        self.assertIn(len(held_out), (1, 2, 3))
        sources = {path.split(":")[-1][0] for path, _ in drawn(held_out=(1, 2))}
        self.assertEqual(sources, set("abcd") - set(held_out))


class Cards(unittest.TestCase):
    def test_shifts_are_taken_clip_by_clip_from_the_clean_score(self):
        row = lambda condition, clip, score: {"condition": condition, "clip": clip, "score": score}
        rows = [row("clean", "x", "0.5"), row("clean", "y", "0.1"), row("clean", "z", ""),
                row("flac", "y", "0.13"), row("flac", "x", "0.4"), row("flac", "z", "0.9"), row("mp3", "x", "")]
        self.assertEqual(score_shifts(rows), {"flac": {"clips": 2, "mean": 0.065, "largest": 0.1, "within_0.05": 0.5}})

    def test_a_table_in_markdown(self):
        self.assertEqual(table(["a", "b"], [["1", percent(0.0456)]]), "| a | b |\n| --- | --- |\n| 1 | 4.6 % |\n")


class Ensembles(unittest.TestCase):
    def test_each_member_hears_what_native_code_would_make_for_it(self):
        rng = np.random.default_rng(1)
        windows = [babble(1.0, 1), np.pad(babble(0.5, 2), (2000, 6000)), 1e-4 * rng.standard_normal(16000), np.zeros(16000)]
        for samples in windows:
            shared = torch.from_numpy(FeatureExtractor(ENSEMBLE_FEATURES).compute(samples))[None, None]
            for name, recipe in RECIPES.items():
                np.testing.assert_allclose(OwnFeatures(recipe)(shared)[0, 0], FeatureExtractor(recipe).compute(samples), atol=2e-4, err_msg=name)

    def test_the_answer_is_the_mean_of_the_logits(self):
        torch.manual_seed(1)
        linear = [(Detector(**SIZES[size]).eval(), FEATURES) for size in ("small", "middle")]
        mel = (Detector(128, **SIZES["small-maximum"]).eval(), MEL_FEATURES)
        samples = babble(1.0, 3)
        features = lambda recipe: torch.from_numpy(FeatureExtractor(recipe).compute(samples))[None, None]
        for members, shared in ((linear, FEATURES), ([*linear, mel], ENSEMBLE_FEATURES)):
            ensemble = Ensemble(members).eval()
            self.assertEqual(ensemble.features, shared)
            with torch.no_grad():
                expected = sum(detector(features(recipe)) for detector, recipe in members) / len(members)
                np.testing.assert_allclose(ensemble(features(shared)), expected, atol=1e-4)

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("onnx", "onnxruntime"))), "export/quantise.py needs onnx and onnxruntime")
    def test_eight_bits_in_the_blocks_change_little(self):
        from export import telemetry_off  # noqa: F401, to be first
        from onnxruntime import InferenceSession

        from export.quantise import quantise_blocks

        torch.manual_seed(1)
        for size, bands in (("small", 256), ("small-maximum", 128)):
            windows = list(torch.randn(8, 1, 1, bands, 98).cumsum(3).numpy() / 3)
            with tempfile.TemporaryDirectory() as folder:
                path = str(Path(folder, "detector.onnx"))
                export_onnx(Detector(bands, **SIZES[size]).eval(), path, bands, 98)
                logits = lambda: np.concatenate([InferenceSession(path).run(None, {"features": window})[0] for window in windows])
                before = logits()
                quantise_blocks(path, windows)
                after = logits()
            self.assertLess(np.abs(after - before).max(), 0.1 * np.abs(before).max() + 0.02, size)
            self.assertFalse(np.array_equal(after, before), size)

    def test_a_target_lies_between_the_label_and_what_was_taught(self):
        labels, taught = torch.tensor([0.0, 1.0]), np.array([3.0, 3.0], np.float16)
        alone, together = targets_of(labels, None), targets_of(labels, taught)
        certain = 1 / (1 + np.exp(-3))
        np.testing.assert_allclose(alone, [0.03, 0.97], rtol=1e-6)
        np.testing.assert_allclose(together, 0.3 * alone + 0.7 * certain, rtol=1e-6)

    def test_the_learning_curve_has_few_points_and_ends_with_the_last(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log.csv")
            log.write_text("crops,loss,eer,auc\n" + "".join(f"{step}000,0.5,0.2,0.9\n" for step in range(1, 30)))
            lines = learning_curve(log).splitlines()
        self.assertLessEqual(len(lines), 9)
        self.assertEqual(lines[-1], "| 29,000 | 0.5 | 20.0 % | 0.900 |")


class Windows(unittest.TestCase):
    def test_starts_follow_the_contract(self):
        seconds = lambda *values: [round(value * 16000) for value in values]
        self.assertEqual(window_starts(12 * 16000), seconds(0, 5, 7))
        self.assertEqual(window_starts(round(10.9 * 16000)), seconds(0, 5, 5.9))
        self.assertEqual(window_starts(round(5.39 * 16000)), seconds(0, 0.39))
        self.assertEqual(window_starts(160016), seconds(0, 5.001))
        self.assertEqual(window_starts(161600), seconds(0, 5.1))  # a rest of 0.1 s
        self.assertEqual(window_starts(161601), [0, 80000, 81601])
        self.assertEqual(window_starts(10 * 16000), seconds(0, 5))
        self.assertEqual(window_starts(3 * 16000), [0])

    def test_a_short_clip_is_repeated(self):
        samples = 1 - np.arange(30000, dtype=np.float32) / 60000
        repeated = np.concatenate([samples, samples, samples[:20000]])
        for fill in (repeat_to_length, repeat_sound):
            np.testing.assert_array_equal(windows_of(samples, fill)[0], repeated)

    def test_silence_around_a_sound_is_not_repeated_with_it(self):
        sound = 1 - np.arange(30000, dtype=np.float32) / 60000
        expected, = windows_of(sound)
        for silence in (0, 0.9e-3):
            padded = np.pad(sound, (8000, 42000), constant_values=silence)
            np.testing.assert_array_equal(windows_of(padded), [expected])
        self.assertTrue((windows_of(np.zeros(30000, np.float32))[0] == 0).all())

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


class FakeCache:
    def samples(self, clip):
        return clip["audio"]


def babble(seconds, seed):
    """Bursts of harmonics in noise, which the voice activity detector takes for speech often enough."""
    rng, count = np.random.default_rng(seed), int(seconds * 16000)
    phase = np.cumsum(2 * np.pi * (120 + 30 * np.sin(np.arange(count) / 9000)) / 16000)
    voice = sum(np.sin(phase * harmonic) / harmonic for harmonic in range(1, 20))
    return (0.1 * voice * (1 + np.sin(np.arange(count) / 800)) + 0.001 * rng.standard_normal(count)).astype(np.float32)


def energy_lag(first, second, reach=400):
    """By how many samples the loudness of `second` runs behind that of `first`."""
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
                np.testing.assert_allclose(tracked[10:-10], pitch_hz[::hop][10:len(tracked) - 10], rtol=0.03)

    def test_noise_and_silence_have_none(self):
        noise = np.random.default_rng(6).standard_normal(32000).astype(np.float32)
        self.assertLess(np.mean(track_pitch_hz(noise, 80) > 0), 0.05)
        self.assertFalse(np.any(track_pitch_hz(np.zeros(16000, np.float32), 80)))


class Vocoders(unittest.TestCase):
    speech = np.concatenate([np.zeros(4000, np.float32), 0.3 * babble(2.0, 7)])

    def test_copies_keep_length_level_pitch_and_time_but_not_the_samples(self):
        pitch_hz = track_pitch_hz(self.speech, 80)
        for name in VOCODERS:
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
        for name in VOCODERS:
            for samples in (np.zeros(16000, np.float32), 0.5 * np.random.default_rng(8).standard_normal(16001).astype(np.float32)):
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

    def test_a_copy_stands_beside_its_clip_in_the_table(self):
        human = {"path": "a.opus", "label": "bonafide", "split": "train", "system": "", "source": "s", "speaker": "p", "category": ""}
        clips, audio = [human, {**human, "path": "b.opus", "split": "valid"}], [(self.speech * 32767).astype(np.int16)] * 2
        add_copies(clips, audio, 1, 11)
        self.assertEqual(len(clips), 3)
        self.assertEqual(len(audio[2]), len(self.speech))
        name = next(iter(VOCODERS))
        self.assertEqual(clips[2], {**human, "path": f"{name}:a.opus", "label": "spoof", "system": name, "category": "own-copy-synthesis"})


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
