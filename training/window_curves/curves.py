# SPDX-License-Identifier: Apache-2.0
"""Curves of a window over frequency, as native/features makes them for serving."""

from features.native import FeatureExtractor
from features.recipe import FEATURES, FFT_SIZES

MEAN_SPECTRUM, PHASE_COHERENCE = "mean_spectrum", "phase_coherence"
CURVES = {MEAN_SPECTRUM: 4, PHASE_COHERENCE: 10}
# [curves, bins]; a file's input has the kinds in this order.
SHAPES = {kind: (curves, FFT_SIZES[kind] // 2) for kind, curves in CURVES.items()}


class WindowCurves:
    """`kind`: of SHAPES, which is that of native/features/KIND.h."""

    def __init__(self, kind):
        self._shape = SHAPES[kind]
        # The extractor makes bands first, here as few as it can.
        self._extractor = FeatureExtractor({**FEATURES, "bands": 1, f"{kind}_fft_size": FFT_SIZES[kind]})

    def compute(self, samples):
        """[n] at 16 kHz, at least 400 -> float32 SHAPES[kind]."""
        curves, bins = self._shape
        return self._extractor.compute(samples)[-curves * bins :].reshape(self._shape)
