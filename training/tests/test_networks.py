# SPDX-License-Identifier: Apache-2.0
"""Networks, their features and their training."""

import tempfile
import unittest
from pathlib import Path

import numpy as np

from tests.support import babble, has_torch, needs_onnx, needs_torch

if has_torch:
    import torch

    from data.make_neural_copies import lag_samples, resynthesise, rms
    from networks import neural_vocoders
    from networks.detector import SIZES, Detector, export_onnx
    from networks.ensemble import Ensemble
    from train.detector import targets_of


@needs_torch
class Ensembles(unittest.TestCase):
    def test_a_network_counts_by_its_share(self):
        torch.manual_seed(1)
        members = [Detector(**SIZES[size]).eval() for size in ("middle", "small")]
        features = torch.randn(2, 1, 256, 98)
        with torch.no_grad():
            first, second = (detector(features) for detector in members)
            np.testing.assert_allclose(Ensemble(members)(features), (first + second) / 2, atol=1e-4)
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
        windows = list(torch.randn(8, 1, 1, 256, 98).cumsum(3).numpy() / 3)
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "detector.onnx"))
            export_onnx(Detector(**SIZES["small"]).eval(), path, 256, 98)
            logits = lambda: np.concatenate(
                [InferenceSession(path).run(None, {"features": window})[0] for window in windows]
            )
            before = logits()
            quantise_blocks(path, windows)
            after = logits()
        self.assertLess(np.abs(after - before).max(), 0.1 * np.abs(before).max() + 0.02)
        self.assertFalse(np.array_equal(after, before))

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
