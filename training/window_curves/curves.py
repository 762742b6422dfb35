# SPDX-License-Identifier: Apache-2.0
"""Curves of a window over frequency, as in native/features for serving."""

from features.native import FeatureExtractor
from features.recipe import (
    CURVE_FIELDS,
    FEATURES,
    FFT_SIZES,
    LONG_MEAN_SPECTRUM,
    LONG_PHASE_COHERENCE,
    MEAN_SPECTRUM,
    PHASE_COHERENCE,
    curve_fields,
)

CURVES = {MEAN_SPECTRUM: 12, LONG_MEAN_SPECTRUM: 12, PHASE_COHERENCE: 10, LONG_PHASE_COHERENCE: 10}
# [curves, bins]; a file's input has the kinds in this order.
SHAPES = {kind: (curves, FFT_SIZES[kind] // 2) for kind, curves in CURVES.items()}


def numbers_of_curves(features):
    """Count of curve values that follow the bands of a recipe."""
    return sum(CURVES[kinds[0]] * sum(features.get(field, [])) // 2 for field, kinds in CURVE_FIELDS.items())


class WindowCurves:
    """`kind`: of SHAPES; native/features/mean_spectrum.h and phase_coherence.h explain them."""

    def __init__(self, kind):
        self._shape = SHAPES[kind]
        # The extractor computes bands first, here as few as possible.
        self._extractor = FeatureExtractor({**FEATURES, "bands": 1, **curve_fields([kind])})

    def compute(self, samples):
        """[n] at 16 kHz, at least 400 -> float32 SHAPES[kind]."""
        curves, bins = self._shape
        return self._extractor.compute(samples)[-curves * bins :].reshape(self._shape)
