# SPDX-License-Identifier: Apache-2.0
"""Networks, their features and their training."""

import shutil
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from data.corpus_cache import write_clips
from features.native import FeatureExtractor
from features.recipe import ENSEMBLE_FEATURES, FEATURES, HEARD, MEL_FEATURES, RECIPES
from tests.support import babble, has_torch, needs_onnx, needs_torch, syllables

if has_torch:
    import torch

    from data.make_neural_copies import lag_samples, resynthesise, rms
    from networks import neural_vocoders
    from networks.detector import SIZES, Detector, export_onnx
    from networks.ensemble import Ensemble, OwnFeatures
    from networks.torch_features import Spectrogram
    from train.detector import FeatureBatches, targets_of


@needs_torch
class Ensembles(unittest.TestCase):
    def test_each_member_hears_what_native_code_would_make_for_it(self):
        rng = np.random.default_rng(1)
        windows = [
            babble(1.0, 1),
            np.pad(babble(0.5, 2), (2000, 6000)),
            1e-4 * rng.standard_normal(16000),
            np.zeros(16000),
        ]
        for samples in windows:
            shared = torch.from_numpy(FeatureExtractor(ENSEMBLE_FEATURES).compute(samples))[None, None]
            for name, recipe in RECIPES.items():
                np.testing.assert_allclose(
                    OwnFeatures(recipe)(shared)[0, 0],
                    FeatureExtractor(recipe).compute(samples),
                    atol=2e-4,
                    err_msg=name,
                )

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

    def test_a_network_counts_by_its_share(self):
        torch.manual_seed(1)
        members = [(Detector(**SIZES["small"]).eval(), FEATURES) for _ in range(2)]
        features = torch.randn(2, 1, 256, 98)
        with torch.no_grad():
            first, second = (detector(features) for detector, _ in members)
            np.testing.assert_allclose(Ensemble(members, [2, 1])(features), (2 * first + second) / 3, atol=1e-4)
        with self.assertRaisesRegex(ValueError, "2 networks"):
            Ensemble(members, [1, 1, 1])

    @needs_onnx
    def test_eight_bits_in_the_blocks_change_little(self):
        from export import telemetry_off  # noqa: F401, to be first

        # isort: split
        from onnxruntime import InferenceSession

        from export.quantise import quantise_blocks

        torch.manual_seed(1)
        for size, bands in (("small", 256), ("small-maximum", 128)):
            windows = list(torch.randn(8, 1, 1, bands, 98).cumsum(3).numpy() / 3)
            with tempfile.TemporaryDirectory() as folder:
                path = str(Path(folder, "detector.onnx"))
                export_onnx(Detector(bands, **SIZES[size]).eval(), path, bands, 98)
                logits = lambda path=path, windows=windows: np.concatenate(
                    [InferenceSession(path).run(None, {"features": window})[0] for window in windows]
                )
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


@needs_torch
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
            if "codec" not in name:  # untrained codes carry no loudness
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


@needs_torch
class Twin(unittest.TestCase):
    def test_pytorch_makes_the_features_of_the_native_stage(self):
        windows = np.stack([syllables(5, 16000, seed) for seed in range(4)]) + 1e-4 * np.random.default_rng(
            1
        ).standard_normal((4, 80000))
        windows = windows.astype(np.float32)
        windows[1, 30000:] = 0
        for recipe in RECIPES.values():
            native = np.stack([FeatureExtractor(recipe).compute(window) for window in windows])
            heard = np.stack([FeatureExtractor(HEARD).compute(window) for window in windows])
            made = Spectrogram(recipe)(torch.from_numpy(heard))[:, 0].numpy()
            self.assertEqual(made.shape, native.shape)
            self.assertLess(np.abs(made - native).max(), 2e-3)
            self.assertLess(np.abs(made - native).mean(), 1e-4)

    def test_a_batch_for_a_gpu_is_the_batch_for_the_processor(self):
        clips = [
            {
                "path": str(index),
                "label": ("bonafide", "spoof")[index % 2],
                "split": "train",
                "source": "page",
                "speaker": "",
                "system": "s" * (index % 2),
                "category": "",
                "family": "",
                "language": "en",
                "rate_hz": 16000,
            }
            for index in range(4)
        ]
        with tempfile.TemporaryDirectory() as folder:
            write_clips(folder, clips, [(32767 * syllables(6, 16000, index)).astype(np.int16) for index in range(4)])
            shutil.copy(Path(folder, "clean.i16"), Path(folder, "codec1.i16"))
            options = SimpleNamespace(cache=folder, seed=1, batch=4, without=(), hold_out=None, pairs=0, changes=())
            (native,), labels = next(iter(FeatureBatches(options, [RECIPES["linear"]])))
            (samples,), again = next(iter(FeatureBatches(options, [RECIPES["linear"]], as_samples=True)))
            options.changes = [("hum", 1.0)]
            (humming,), _ = next(iter(FeatureBatches(options, [RECIPES["linear"]], as_samples=True)))
        self.assertEqual(labels.tolist(), again.tolist())
        made = Spectrogram(RECIPES["linear"])(samples)
        self.assertEqual(made.shape, native.shape)
        self.assertLess((made - native).abs().mean().item(), 1e-3)
        self.assertTrue((humming != samples).any(1).all())
