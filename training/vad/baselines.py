# SPDX-License-Identifier: Apache-2.0
"""Detectors without learning, for comparison. Each takes samples [n] and a threshold and returns bool [ceil(n /
160)]."""

import numpy as np
from scipy import ndimage

from vad.frame_labels import HOP_SAMPLES, frame_levels_db

_HANGOVER_FRAMES = 15


def _hang_over(active):
    """Keeps a decision for speech for a few frames and drops single frames."""
    active = ndimage.binary_opening(active, np.ones(3))
    return ndimage.binary_dilation(active, np.ones(2 * _HANGOVER_FRAMES + 1), origin=-_HANGOVER_FRAMES + 2)


def adaptive_energy(samples, threshold_db):
    """Level over a noise floor that falls at once and rises by 3 dB/s."""
    levels = frame_levels_db(samples)
    floor, floors = levels[:10].min(), np.empty_like(levels)
    for index, level in enumerate(levels):
        floor = min(level, floor + 0.03)
        floors[index] = floor
    return _hang_over((levels > floors + threshold_db) & (levels > -80))


def likelihood_ratio(samples, threshold):
    """The statistical model of Sohn, Kim and Sung (1999): Gaussian spectra, decision-directed a priori SNR, the mean
    log likelihood ratio over 31 to 4000 Hz. The noise is learnt from the first 100 ms and whenever speech is
    unlikely."""
    frames = -(-len(samples) // HOP_SAMPLES)
    padded = np.pad(samples, (48, frames * HOP_SAMPLES - len(samples) + 48))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 256)[::HOP_SAMPLES]
    power = np.abs(np.fft.rfft(windows * np.hanning(256))[:, 1:65]) ** 2 + 1e-9
    noise = power[:10].mean(axis=0)
    clean = np.zeros(64)
    active = np.empty(frames, bool)
    for index in range(frames):
        posterior = np.minimum(power[index] / noise, 1e4)
        prior = np.maximum(0.98 * clean / noise + 0.02 * np.maximum(posterior - 1, 0), 1e-3)
        ratio = np.mean(posterior * prior / (1 + prior) - np.log1p(prior))
        active[index] = ratio > threshold
        clean = (prior / (1 + prior)) ** 2 * power[index]
        if not active[index]:
            noise = 0.95 * noise + 0.05 * power[index]
    return _hang_over(active)


# Name, detector and the thresholds to choose from.
BASELINES = {
    "adaptive energy": (adaptive_energy, [4, 6, 8, 10, 12, 15, 18, 21]),
    "likelihood ratio": (likelihood_ratio, [0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.0]),
}
