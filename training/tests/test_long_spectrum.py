# SPDX-License-Identifier: Apache-2.0
"""Mean spectra of whole windows, and what a network makes of them."""

import unittest

import numpy as np

from long_spectrum.spectrum import BINS, FFT_SIZE, long_spectrum
from tests.support import has_torch, needs_torch, syllables

if has_torch:
    import torch

    from long_spectrum.network import LongSpectrumNetwork
    from long_spectrum.score import joined


class Spectra(unittest.TestCase):
    speech = syllables(5, 16000, 1) + 1e-3 * np.random.default_rng(1).standard_normal(80000)

    def test_a_line_that_no_frame_shows_stands_out(self):
        rng, place = np.random.default_rng(2), 1000
        noise = 0.1 * rng.standard_normal(80000)
        line = 8e-3 * np.sin(2 * np.pi * place / FFT_SIZE * np.arange(80000))
        without, curves = long_spectrum(noise), long_spectrum(noise + line)
        self.assertEqual(curves.shape, (2, BINS))
        self.assertEqual(int(np.argmax(curves[0][100:] - without[0][100:])) + 100, place)
        self.assertGreater(curves[0][place], 5 * curves[0][100:900].std())

    def test_neither_the_level_nor_an_equaliser_changes_it_much(self):
        curves = long_spectrum(self.speech)
        np.testing.assert_allclose(long_spectrum(0.25 * self.speech), curves, atol=0.1)
        equalised = np.convolve(self.speech, [1, -0.7], "same")
        self.assertLess(np.abs(long_spectrum(equalised) - curves)[:, 64:].mean(), 0.1)

    def test_short_and_silent_windows_have_one_too(self):
        for samples in (self.speech[:1000], np.zeros(80000), np.zeros(100)):
            curves = long_spectrum(samples)
            self.assertEqual((curves.shape, curves.dtype), ((2, BINS), np.float32))
            self.assertTrue(np.isfinite(curves).all())


@needs_torch
class Networks(unittest.TestCase):
    def test_one_logit_for_each_window(self):
        torch.manual_seed(1)
        said = LongSpectrumNetwork().eval()(torch.randn(3, 2, BINS))
        self.assertEqual(tuple(said.shape), (3,))

    def test_logits_add_up_by_the_share(self):
        self.assertAlmostEqual(joined("0.5", 2.0, 0.5), 1 / (1 + np.exp(-1)))
        self.assertAlmostEqual(joined("0.75", 0.0, 1.0), 0.75)
        self.assertAlmostEqual(joined("0.75", -1.0, np.inf), 1 / (1 + np.exp(1)))
        self.assertLess(joined("1", 0.0, 1.0), 1)


if __name__ == "__main__":
    unittest.main()
