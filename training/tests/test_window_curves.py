# SPDX-License-Identifier: Apache-2.0
"""The network on mean spectra: its material, its training, and the file in which it is joined to a detector."""

import argparse
import json
import tempfile
import unittest
from pathlib import Path

import numpy as np

from data.sampler import CropSampler
from features.native import FeatureExtractor
from features.recipe import FEATURES, WITH_MEAN_SPECTRUM
from mean_spectrum.bank import BATCH, spectra_of_crops
from mean_spectrum.spectra import BINS, CURVES, MeanSpectra
from tests.support import babble, has_torch, needs_onnx, needs_torch
from tests.test_sampler import NotingCache

if has_torch:
    import torch

    from mean_spectrum.network import MeanOfNetworks, MeanSpectrumNetwork, load_trained
    from mean_spectrum.score import joined
    from mean_spectrum.train import draw, pairs_of_banks, read_bank, train


class Spectra(unittest.TestCase):
    def test_they_are_what_a_detector_with_a_mean_spectrum_is_given(self):
        samples = babble(5.0, 3)[:80000]
        given = FeatureExtractor(WITH_MEAN_SPECTRUM).compute(samples)
        bands = FeatureExtractor(FEATURES).compute(samples)
        np.testing.assert_array_equal(given[: bands.size], bands.ravel())
        np.testing.assert_array_equal(given[bands.size :].reshape(CURVES, BINS), MeanSpectra().compute(samples))

    def test_a_file_of_the_bank_holds_pairs_of_whole_windows(self):
        sampler = CropSampler(NotingCache(), 1, BATCH, ["augmentation", "codecs"])
        spectra, labels = spectra_of_crops(sampler, 0, batches=2)
        self.assertEqual((spectra.shape, spectra.dtype), ((2 * BATCH, CURVES, BINS), np.float16))
        np.testing.assert_array_equal(labels, np.arange(2 * BATCH) % 2)
        crop = sampler.batch(1, 80000)[0][3]
        np.testing.assert_array_equal(spectra[BATCH + 3], MeanSpectra().compute(crop).astype(np.float16))
        other, _ = spectra_of_crops(sampler, 1, batches=2)
        self.assertFalse(np.array_equal(other[:BATCH], spectra[:BATCH]))
        filtered, _ = spectra_of_crops(sampler, 0, high_pass_share=0.5, batches=2)
        changed = (np.abs(filtered - spectra)[:, 0, :6] > 0.5).any(1)  # below 20 Hz
        for label in (0, 1):
            self.assertTrue(0.25 < changed[labels == label].mean() < 0.75)
        np.testing.assert_allclose(filtered[:, :, 512:], spectra[:, :, 512:], atol=0.1)


@needs_torch
class Networks(unittest.TestCase):
    def test_one_logit_for_each_window(self):
        torch.manual_seed(1)
        said = MeanSpectrumNetwork().eval()(torch.randn(3, CURVES, BINS))
        self.assertEqual(tuple(said.shape), (3,))

    def test_logits_add_up_by_the_share(self):
        self.assertAlmostEqual(joined("0.5", 2.0, 0.5), 1 / (1 + np.exp(-1)))
        self.assertAlmostEqual(joined("0.75", 0.0, 1.0), 0.75)
        self.assertAlmostEqual(joined("0.75", -1.0, np.inf), 1 / (1 + np.exp(1)))
        self.assertLess(joined("1", 0.0, 1.0), 1)


def write_bank(folder, crops, seed, line_at):
    """Noise, and in generated crops a line."""
    rng = np.random.default_rng(seed)
    for index in range(2):
        spectra = rng.standard_normal((crops, CURVES, BINS)).astype(np.float16)
        labels = (np.arange(crops) % 2).astype(np.float32)
        spectra[labels == 1, :, line_at] += 20
        np.savez(Path(folder, f"{index}.npz"), spectra=spectra, labels=labels)


@needs_torch
class Training(unittest.TestCase):
    def test_pairs_stay_together_and_banks_get_their_shares(self):
        self.assertEqual(pairs_of_banks([3, 1], 128), [48, 16])
        self.assertEqual(pairs_of_banks([1, 1, 1], 128), [21, 21, 22])
        labels = np.arange(20) % 2
        spectra, drawn = draw((np.arange(20), labels), 5, np.random.default_rng(1))
        np.testing.assert_array_equal(drawn, [0] * 5 + [1] * 5)
        np.testing.assert_array_equal(spectra[5:], spectra[:5] + 1)

    def test_it_learns_a_line_and_repeats_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            bank = Path(folder, "bank")
            bank.mkdir()
            write_bank(bank, 40, 1, line_at=700)
            Path(bank, "2.99.npz").write_bytes(b"broken off")
            self.assertEqual(read_bank(bank)[0].shape, (80, CURVES, BINS))
            options = argparse.Namespace(
                banks=[str(bank)], shares=None, steps=40, batch=32, seed=1, peak_rate=3e-3, weight_decay=0.05, threads=1
            )
            weights = []
            for run in ("first", "second"):
                options.run = str(Path(folder, run))
                train(options)
                weights.append(torch.load(Path(options.run, "last.pt")))
            settings = json.loads(Path(folder, "first", "settings.json").read_text())
            self.assertEqual((settings["banks"], settings["crops"]), (["bank"], [80]))
            for name, values in weights[0].items():
                self.assertTrue(torch.equal(values, weights[1][name]), name)
            network = load_trained(Path(options.run, "last.pt"))
            other = Path(folder, "other")
            other.mkdir()
            write_bank(other, 40, 2, line_at=700)
            spectra, labels = read_bank(other)
            with torch.no_grad():
                said = network.eval()(torch.from_numpy(spectra.astype(np.float32))).numpy()
        self.assertGreater(said[labels == 1].min(), said[labels == 0].max())


@needs_onnx
@needs_torch
class Joined(unittest.TestCase):
    def test_the_file_adds_both_logits_and_the_detector_comes_out_again(self):
        import onnx
        from onnxruntime import InferenceSession

        from export.join_spectrum import joined as joined_model
        from export.recover_weights import parameters_of
        from networks.detector import SIZES, Detector, export_onnx

        torch.manual_seed(1)
        detector, network = (
            Detector(**SIZES["small"]).train(),
            MeanOfNetworks([MeanSpectrumNetwork(), MeanSpectrumNetwork()]).eval(),
        )
        bands, spectra = torch.randn(3, 1, 256, 98), torch.randn(3, CURVES, BINS)
        with torch.no_grad():
            detector(bands)  # statistics of its own
        detector.eval()
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "detector.onnx"))
            export_onnx(detector, path, 256, 98)
            alone = parameters_of(path, ["small"])[0]
            onnx.save(joined_model(onnx.load(path), network, 0.8), path)
            flat = np.concatenate([bands.numpy().reshape(3, -1), spectra.numpy().reshape(3, -1)], 1)
            self.assertEqual(parameters_of(path, ["small"])[0].keys(), alone.keys())
            (logits,) = InferenceSession(path).run(None, {"features": flat})
        with torch.no_grad():
            expected = detector(bands) + 0.4 * sum(member(spectra) for member in network.networks)
        np.testing.assert_allclose(logits, expected, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
