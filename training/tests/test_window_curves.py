# SPDX-License-Identifier: Apache-2.0
"""The networks on curves of windows: data, training, and the file that joins them to a detector."""

import argparse
import json
import tempfile
import unittest
from pathlib import Path

import numpy as np

from data.sampler import CropSampler
from features.native import FeatureExtractor
from features.recipe import (
    FEATURES,
    LONG_PHASE_COHERENCE,
    PHASE_COHERENCE,
    WITH_CURVES,
)
from features.stretch import stretch_frequency
from signals.augmentation import CHANGES
from tests.support import babble, has_torch, needs_onnx, needs_torch
from tests.test_sampler import NotingCache
from window_curves.bank import BATCH, curves_of_crops
from window_curves.curves import SHAPES, WindowCurves

if has_torch:
    import torch

    from window_curves.network import CurveNetwork, MeanOfNetworks, load_trained
    from window_curves.train import draw, pairs_of_banks, read_bank, train


class Curves(unittest.TestCase):
    def test_they_are_what_a_detector_is_given_after_the_bands(self):
        samples = babble(5.0, 3)[:80000]
        given = FeatureExtractor(WITH_CURVES).compute(samples)
        expected = [FeatureExtractor(FEATURES), *map(WindowCurves, SHAPES)]
        expected = np.concatenate([part.compute(samples).ravel() for part in expected])
        np.testing.assert_array_equal(given, expected)

    def test_a_file_of_the_bank_holds_pairs_of_whole_windows(self):
        sampler = CropSampler(NotingCache(), 1, BATCH, ["augmentation"])
        for kind in SHAPES:
            curves, labels = curves_of_crops(kind, sampler, 0, batches=2)
            self.assertEqual((curves.shape, curves.dtype), ((2 * BATCH, *SHAPES[kind]), np.float16))
            np.testing.assert_array_equal(labels, np.arange(2 * BATCH) % 2)
            crop = sampler.batch(1, 80000)[0][3]
            np.testing.assert_array_equal(curves[BATCH + 3], WindowCurves(kind).compute(crop).astype(np.float16))
            other, _ = curves_of_crops(kind, sampler, 1, batches=2)
            self.assertFalse(np.array_equal(other[:BATCH], curves[:BATCH]))

    def test_that_share_of_either_class_goes_through_a_change(self):
        sampler = CropSampler(NotingCache(), 1, BATCH, ["augmentation"])
        curves, labels = curves_of_crops(PHASE_COHERENCE, sampler, 0, batches=2)
        for name, change in CHANGES.items():
            disturbed, _ = curves_of_crops(PHASE_COHERENCE, sampler, 0, [(0.5, change)], batches=2)
            changed = (disturbed != curves).reshape(len(curves), -1).any(1)
            for label in (0, 1):
                share = changed[labels == label].mean()
                self.assertTrue(0.25 < share < 0.75, (name, share))


@needs_torch
class Networks(unittest.TestCase):
    def test_one_logit_for_each_window(self):
        torch.manual_seed(1)
        for kind, shape in SHAPES.items():
            said = CurveNetwork(kind).eval()(torch.randn(3, *shape))
            self.assertEqual(tuple(said.shape), (3,), kind)


def write_bank(folder, kind, crops, seed):
    """Noise, with a line in generated crops."""
    rng = np.random.default_rng(seed)
    for index in range(2):
        curves = rng.standard_normal((crops, *SHAPES[kind])).astype(np.float16)
        labels = (np.arange(crops) % 2).astype(np.float32)
        curves[labels == 1, :, SHAPES[kind][1] // 3] += 20
        np.savez(Path(folder, f"{index}.npz"), curves=curves, labels=labels)


@needs_torch
class Training(unittest.TestCase):
    def test_pairs_stay_together_and_banks_get_their_shares(self):
        self.assertEqual(pairs_of_banks([3, 1], 128), [48, 16])
        self.assertEqual(pairs_of_banks([1, 1, 1], 128), [21, 21, 22])
        labels = np.arange(20) % 2
        curves, drawn = draw((np.arange(20), labels), 5, np.random.default_rng(1))
        np.testing.assert_array_equal(drawn, [0] * 5 + [1] * 5)
        np.testing.assert_array_equal(curves[5:], curves[:5] + 1)

    def test_half_of_the_items_are_stretched_within_the_range(self):
        bins = 2048
        line = np.exp(-(((np.arange(bins) - 1500) / 8) ** 2)).astype(np.float32)
        items = np.broadcast_to(line + 1, (400, 2, bins)).copy()
        stretch_frequency(np.moveaxis(items, 2, 1), 0.2, np.random.default_rng(1))
        np.testing.assert_array_equal(items[:, 0], items[:, 1])
        places = items[:, 0].argmax(axis=1)
        self.assertTrue(120 < np.sum(places == 1500) < 280)
        self.assertTrue(1500 * np.exp(-0.2) - 1 <= places.min() < 1300)
        self.assertTrue(1700 < places.max() <= 1500 * np.exp(0.2) + 1)
        heights = items[:, 0].max(axis=1)
        np.testing.assert_allclose(heights, 2, atol=0.02)
        # A line that moves down leaves only zeros above the highest bin.
        lowest = items[places.argmin(), 0]
        np.testing.assert_array_equal(lowest[int(np.ceil((bins - 1) * places.min() / 1500)) + 2 :], 0)
        np.testing.assert_allclose(lowest[: places.min() - 100], 1, atol=1e-6)

    def test_it_learns_a_line_and_repeats_itself(self):
        for kind in SHAPES:
            with self.subTest(kind), tempfile.TemporaryDirectory() as folder:
                self.learn_a_line(kind, folder)

    def learn_a_line(self, kind, folder):
        bank, other = Path(folder, "bank"), Path(folder, "other")
        bank.mkdir()
        write_bank(bank, kind, 40, 1)
        Path(bank, "2.99.npz").write_bytes(b"broken off")
        self.assertEqual(read_bank(bank)[0].shape, (80, *SHAPES[kind]))
        options = argparse.Namespace(
            kind=kind,
            banks=[str(bank)],
            shares=None,
            steps=40,
            batch=32,
            seed=1,
            hidden_share=0.5,
            stretch=0.1,
            peak_rate=3e-3,
            weight_decay=0.05,
            threads=1,
            start_from=None,
        )
        weights = []
        for run in ("first", "second"):
            options.run = str(Path(folder, run))
            train(options)
            weights.append(torch.load(Path(options.run, "last.pt")))
        settings = json.loads(Path(folder, "first", "settings.json").read_text())
        self.assertEqual((settings["kind"], settings["banks"], settings["crops"]), (kind, ["bank"], [80]))
        for name, values in weights[0].items():
            self.assertTrue(torch.equal(values, weights[1][name]), name)
        other.mkdir()
        write_bank(other, kind, 40, 2)
        curves, labels = read_bank(other)
        with torch.no_grad():
            network = load_trained(kind, Path(options.run, "last.pt")).eval()
            said = network(torch.from_numpy(curves.astype(np.float32))).numpy()
        self.assertGreater(said[labels == 1].min(), said[labels == 0].max())
        options.start_from, options.run = str(Path(folder, "first", "last.pt")), str(Path(folder, "third"))
        options.steps = 1
        options.peak_rate = 0.0
        train(options)
        for name, value in network.named_parameters():
            self.assertTrue(torch.equal(value, torch.load(Path(folder, "third", "last.pt"))[name]), name)


@needs_onnx
@needs_torch
class Joined(unittest.TestCase):
    def test_the_file_adds_the_logits(self):
        import onnx
        from onnxruntime import InferenceSession

        from export.join_curves import joined as joined_model
        from export.join_curves import part_of
        from networks.detector import SIZES, Detector, export_onnx

        torch.manual_seed(1)
        detector = Detector(**SIZES["small"]).train()
        networks = {
            PHASE_COHERENCE: (
                MeanOfNetworks([CurveNetwork(PHASE_COHERENCE), CurveNetwork(PHASE_COHERENCE)]).eval(),
                0.5,
            ),
            LONG_PHASE_COHERENCE: (MeanOfNetworks([CurveNetwork(LONG_PHASE_COHERENCE)]).eval(), 0.3),
        }
        bands = torch.randn(3, 1, 256, 98)
        curves = {kind: torch.randn(3, *shape) for kind, shape in SHAPES.items()}
        with torch.no_grad():
            detector(bands)  # its own statistics
        detector.eval()
        with tempfile.TemporaryDirectory() as folder:
            path, joined_path = (str(Path(folder, name)) for name in ("detector.onnx", "joined.onnx"))
            export_onnx(detector, path, 256, 98)
            for kinds in ([LONG_PHASE_COHERENCE], list(SHAPES)):
                made = joined_model(onnx.load(path), {kind: part_of(kind, *networks[kind]) for kind in kinds})
                onnx.save(made, joined_path)
                flat = [part.numpy().reshape(3, -1) for part in (bands, *(curves[kind] for kind in kinds))]
                (logits,) = InferenceSession(joined_path).run(None, {"features": np.concatenate(flat, 1)})
                with torch.no_grad():
                    expected = detector(bands)
                    for kind in kinds:
                        network, share = networks[kind]
                        expected += share * network(curves[kind])
                np.testing.assert_allclose(logits, expected, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
