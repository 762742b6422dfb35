# SPDX-License-Identifier: Apache-2.0
"""Curves of a window over frequency, as in native/features for serving."""

from features.native import FeatureExtractor
from features.recipe import (
    CURVE_SIZES,
    FEATURES,
    FFT_SIZES,
    curve_fields,
)

CURVES = 10  # of each kind
# [curves, bins]; a file's input has the kinds in this order.
SHAPES = {kind: (CURVES, size // 2) for kind, size in FFT_SIZES.items()}


def numbers_of_curves(features):
    """Count of curve values that follow the bands of a recipe."""
    return CURVES * sum(features.get(CURVE_SIZES, [])) // 2


class WindowCurves:
    """`kind`: of SHAPES; native/features/phase_coherence.h explains them."""

    def __init__(self, kind):
        self._shape = SHAPES[kind]
        # The extractor computes bands first, here as few as possible.
        self._extractor = FeatureExtractor({**FEATURES, "bands": 1, **curve_fields([kind])})

    def compute(self, samples):
        """[n] at 16 kHz, at least 400 -> float32 SHAPES[kind]."""
        curves, bins = self._shape
        return self._extractor.compute(samples)[-curves * bins :].reshape(self._shape)
