# SPDX-License-Identifier: Apache-2.0
"""Mean spectra of windows, as native/features/mean_spectrum.h makes them for serving."""

from features.native import FeatureExtractor
from features.recipe import MEAN_SPECTRUM_FFT_SIZE, WITH_MEAN_SPECTRUM

CURVES, BINS = 4, MEAN_SPECTRUM_FFT_SIZE // 2


class MeanSpectra:
    def __init__(self):
        # The extractor makes bands first, here as few as it can.
        self._extractor = FeatureExtractor({**WITH_MEAN_SPECTRUM, "bands": 1})

    def compute(self, samples):
        """[n] at 16 kHz, at least 400 -> float32 [CURVES, BINS]."""
        return self._extractor.compute(samples)[-CURVES * BINS :].reshape(CURVES, BINS)
