# SPDX-License-Identifier: Apache-2.0
"""Mel filters as in native/features/filter_bank.cc for mel_formula htk, mel_norm none and triangles on the Hz axis."""

import numpy as np

from features.recipe import SAMPLE_RATE_HZ


def mel_triangles(bands, fft_size, fmin_hz=0, fmax_hz=SAMPLE_RATE_HZ / 2, rate_hz=SAMPLE_RATE_HZ):
    """float32 [bands, fft_size / 2 + 1], peak 1."""
    to_mel = lambda hz: 2595 * np.log10(1 + hz / 700)
    edges = 700 * (10 ** (np.linspace(to_mel(fmin_hz), to_mel(fmax_hz), bands + 2) / 2595) - 1)
    hz = np.linspace(0, rate_hz / 2, fft_size // 2 + 1)
    rising = (hz - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - hz) / np.diff(edges)[1:, None]
    return np.maximum(0, np.minimum(rising, falling)).astype(np.float32)
