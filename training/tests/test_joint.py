# SPDX-License-Identifier: Apache-2.0
"""Crops in several views, and the joint network on bands and curves."""

import tempfile
import unittest
from pathlib import Path

import numpy as np

from data.view_sampler import VIEWS, ViewSampler
from signals import laundering
from signals.laundering import LAUNDERING, launder
from tests.support import babble, needs_onnx, needs_torch
from tests.test_sampler import NotingCache

RATE_HZ = 16000


class EveryTreatment(unittest.TestCase):
    def test_it_keeps_the_length_and_depends_on_the_generator_alone(self):
        for seconds in (5.0, 0.9, 0.3):
            samples = babble(seconds, 3)
            for change in LAUNDERING:
                before = samples.copy()
                changed = [change(samples, np.random.default_rng(seed)) for seed in (1, 1, 2)]
                np.testing.assert_array_equal(samples, before, change.__name__)
                np.testing.assert_array_equal(changed[0], changed[1], change.__name__)
                for made in changed:
                    self.assertEqual((made.dtype, made.shape), (np.float32, samples.shape), change.__name__)
                    self.assertTrue(np.isfinite(made).all(), change.__name__)

    def test_each_is_drawn(self):
        drawn, samples = set(), babble(1.0, 1)
        noted = {change: lambda heard, rng, change=change: drawn.add(change) or heard for change in LAUNDERING}
        shares, laundering.LAUNDERING = laundering.LAUNDERING, dict(zip(noted.values(), LAUNDERING.values()))
        try:
            for seed in range(400):
                launder(samples, np.random.default_rng(seed))
        finally:
            laundering.LAUNDERING = shares
        self.assertEqual(drawn, set(LAUNDERING))

    def test_filters_take_what_they_are_to_take(self):
        seconds = np.arange(5 * RATE_HZ) / RATE_HZ
        tone = lambda hz: np.sin(2 * np.pi * hz * seconds).astype(np.float32)
        level = lambda samples: np.sqrt(np.mean(samples[RATE_HZ : 4 * RATE_HZ] ** 2))
        for seed in range(20):
            passed = lambda change, hz, seed=seed: level(change(tone(hz), np.random.default_rng(seed)))
            self.assertLess(passed(laundering.high_pass, 10), passed(laundering.high_pass, 2000))
            self.assertGreater(passed(laundering.high_pass, 4000), 0.65)
            self.assertLess(passed(laundering.low_pass, 7990), passed(laundering.low_pass, 500))
            self.assertGreater(passed(laundering.low_pass, 300), 0.65)

    def test_an_image_room_begins_with_what_comes_straight(self):
        for seed in range(20):
            response = laundering._image_response(np.random.default_rng(seed))
            self.assertLess(np.argmax(np.abs(response)), 0.02 * RATE_HZ)
            self.assertGreater(np.count_nonzero(np.abs(response) > 1e-3 * np.abs(response).max()), 20)

    def test_lost_packets_are_whole_and_cut_pauses_are_gone(self):
        samples = babble(5.0, 2)
        kept = laundering.lose_packets(samples, np.random.default_rng(4))
        self.assertGreater(np.mean(kept == samples), 0.3)
        self.assertGreater(np.count_nonzero(kept != samples), 160)
        paused = samples.copy()
        paused[20000:50000] *= 1e-4
        short = laundering.cut_pauses(paused, np.random.default_rng(1))
        self.assertLess(np.mean(np.abs(short) < 1e-4), 0.5 * np.mean(np.abs(paused) < 1e-4))


class Views(unittest.TestCase):
    def test_the_first_is_the_published_crop_and_all_have_its_label(self):
        views, labels = ViewSampler(NotingCache(), 1, 8).batch(3)
        self.assertEqual((views.shape[:2], labels.shape), ((VIEWS, 8), (8,)))
        again, _ = ViewSampler(NotingCache(), 1, 8).batch(3)
        np.testing.assert_array_equal(views, again)
        self.assertTrue(np.isfinite(views).all() and (np.abs(views).max(2) <= 1).all())
        # The clips are unmodified noise: white, at any level.
        for crop in views[0]:
            heard = crop[np.abs(crop) > 0]
            power = np.abs(np.fft.rfft(heard)) ** 2
            quarters = [part.mean() for part in np.array_split(power[1:], 4)]
            self.assertLess(max(quarters) / min(quarters), 1.2)


@needs_torch
class Joint(unittest.TestCase):
    def setUp(self):
        import torch

        from networks.joint import CURVE_NUMBERS, JointDetector

        torch.manual_seed(1)
        self.network = JointDetector("small").eval()
        self.numbers = torch.randn(3, 256 * 498 + sum(CURVE_NUMBERS))

    def test_it_hears_bands_and_curves_of_each_item_alone(self):
        import torch

        with torch.no_grad():
            together = self.network(self.numbers)
            alone = torch.cat([self.network(item[None]) for item in self.numbers])
            torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)
            for place in (0, -1):
                changed = self.numbers.clone()
                changed[0, place] += 50
                said = self.network(changed)
                self.assertNotAlmostEqual(said[0].item(), together[0].item(), 5)
                torch.testing.assert_close(said[1:], together[1:], rtol=1e-4, atol=1e-5)

    @needs_onnx
    def test_its_file_says_the_same(self):
        import onnxruntime
        import torch

        from networks.onnx_export import write_onnx

        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            path = str(Path(folder, "joint.onnx"))
            write_onnx(self.network, self.numbers[:1], path, "features", "logit")
            (said,) = onnxruntime.InferenceSession(path).run(None, {"features": self.numbers.numpy()})
            np.testing.assert_allclose(said, self.network(self.numbers).numpy(), rtol=1e-3, atol=1e-4)

    def test_a_difference_pulls_both_views_together_or_all_to_the_teachers(self):
        import torch

        from train.joint import difference

        views = torch.tensor([[1.0, -2.0], [0.5, -1.0]], requires_grad=True)
        (pull,) = torch.autograd.grad(difference(views, None), views)
        self.assertTrue((pull[0] == -pull[1]).all() and (pull[0] * views[0] > 0).all())
        (pull,) = torch.autograd.grad(difference(views, torch.tensor([3.0, -3.0])), views)
        self.assertTrue((pull * views < 0).all())

    @needs_onnx
    def test_it_comes_out_of_a_shipped_file_as_the_sum_of_its_parts(self):
        import onnx
        import torch

        from export.join_curves import joined, part_of
        from export.recover_joint import joint_of
        from features.recipe import SERVED_CURVES
        from networks.detector import SIZES, Detector, export_onnx
        from window_curves.network import CurveNetwork, MeanOfNetworks

        detector = Detector(**SIZES["small"])
        own = {kind: CurveNetwork(kind) for kind in SERVED_CURVES}
        numbers = torch.randn(24, self.numbers.shape[1]) * 2 + 1
        bands, curves = self.network.split(numbers)
        with torch.no_grad():
            detector(bands)  # statistics of its own
            for network, heard in zip(own.values(), curves):
                network(heard)
        detector.eval()
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            path = str(Path(folder, "detector.onnx"))
            export_onnx(detector, path, 256, 498)
            parts = {kind: part_of(kind, MeanOfNetworks([network.eval()]), 0.4) for kind, network in own.items()}
            onnx.save(joined(onnx.load(path), parts), path)
            made = joint_of(path, "small", numbers.numpy())
            said = detector(bands) + 0.4 * sum(network(heard) for network, heard in zip(own.values(), curves))
            np.testing.assert_allclose(made(numbers), said, atol=2e-3)


if __name__ == "__main__":
    unittest.main()
