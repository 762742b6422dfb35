# SPDX-License-Identifier: Apache-2.0
"""Fundamental frequency over time: peaks of the normalised autocorrelation, joined by the cheapest path through
them."""

import numpy as np
from scipy import fft

from features.recipe import SAMPLE_RATE_HZ

FLOOR_HZ, CEILING_HZ = 65, 500

_WIDTH = 800  # three periods of the floor: fewer, and the window's own shape outweighs the voice's
_CANDIDATES = 5
_UNVOICED_STRENGTH, _SILENCE_SHARE = 0.45, 0.03
_OCTAVE_COST = 0.01  # per octave of lag, so that the shortest period of equal peaks wins
_JUMP_COST_PER_OCTAVE, _VOICING_COST = 0.35, 0.14  # at 10 ms from frame to frame


def frames_around(samples, hop, width):
    """[1 + len(samples) // hop, width]: frame i is centred on sample i * hop, zeros beyond the ends."""
    padded = np.pad(samples, (width // 2, width - width // 2))
    return np.lib.stride_tricks.sliding_window_view(padded, width)[: len(samples) + 1 : hop]


def _candidates(samples, hop):
    """([frames, 6] log2 of pitch, [frames, 6] strength); the last column is "unvoiced"."""
    window = np.hanning(_WIDTH).astype(np.float32)
    frames = frames_around(samples, hop, _WIDTH)
    peak = np.abs(frames).max(axis=1)
    low, high = SAMPLE_RATE_HZ // CEILING_HZ, SAMPLE_RATE_HZ // FLOOR_HZ
    autocorrelation = lambda cut: fft.irfft(np.abs(fft.rfft(cut, 2048)) ** 2)[..., : high + 2]
    correlation = autocorrelation((frames - frames.mean(axis=1, keepdims=True)) * window) / autocorrelation(window)
    correlation /= correlation[:, :1] + 1e-10

    middle, left, right = (
        correlation[:, low : high + 1],
        correlation[:, low - 1 : high],
        correlation[:, low + 1 : high + 2],
    )
    is_peak = (middle > left) & (middle >= right) & (middle > 0.1)
    lag = np.arange(low, high + 1)
    strength = np.where(is_peak, middle - _OCTAVE_COST * np.log2(lag / low), -np.inf)
    best = np.argpartition(-strength, _CANDIDATES, axis=1)[:, :_CANDIDATES]
    take = lambda values: np.take_along_axis(values, best, axis=1)
    curvature = np.minimum(take(left) - 2 * take(middle) + take(right), -1e-6)
    exact_lag = lag[best] + np.clip(0.5 * (take(left) - take(right)) / curvature, -0.5, 0.5)

    relative_peak = peak / (peak.max() + 1e-10)
    unvoiced = _UNVOICED_STRENGTH + np.maximum(0, 2 - relative_peak * (1 + _UNVOICED_STRENGTH) / _SILENCE_SHARE)
    octaves = np.log2(SAMPLE_RATE_HZ / exact_lag)
    return (np.column_stack([octaves, np.zeros(len(octaves))]), np.column_stack([take(strength), unvoiced]))


def track_pitch_hz(samples, hop):
    """Pitch in Hz per frame, 0 where unvoiced; frame i is centred on sample i * hop of float32 samples at 16 kHz."""
    octaves, strength = _candidates(samples, hop)
    per_frame = 0.01 * SAMPLE_RATE_HZ / hop
    cost = _JUMP_COST_PER_OCTAVE * per_frame * np.abs(octaves[:-1, :, None] - octaves[1:, None, :])
    cost[:, -1, :] = cost[:, :, -1] = _VOICING_COST * per_frame
    cost[:, -1, -1] = 0
    total, came_from = strength[0], np.zeros(strength.shape, np.int64)
    for index in range(1, len(strength)):
        reached = total[:, None] - cost[index - 1]
        came_from[index] = reached.argmax(axis=0)
        total = reached.max(axis=0) + strength[index]
    path = np.zeros(len(strength), np.int64)
    path[-1] = total.argmax()
    for index in range(len(path) - 1, 0, -1):
        path[index - 1] = came_from[index, path[index]]
    chosen = octaves[np.arange(len(path)), path]
    return np.where(path == _CANDIDATES, 0.0, 2.0**chosen)
