# SPDX-License-Identifier: Apache-2.0
"""Finds the same recording on several pages, even at another rate, level or surrounding silence, by the envelopes of
four bands that exist at every rate. It misses some: between a quarter and a half of resampled and padded copies stay
below SAME."""

import numpy as np
from scipy import signal

BAND_EDGES_HZ = [(100, 500), (500, 1000), (1000, 2000), (2000, 3400)]
FRAMES = 96  # of the sounding part, whatever its length
HEARD_DB = 35  # below the loudest frame
SAME = 0.985  # cosine of two fingerprints
LENGTHS_ALIKE = 0.03
FRAME_SECONDS = 0.01
MIN_SECONDS = 1.0  # shorter words are too similar


def fingerprint(samples, rate_hz):
    """(seconds of sound, float32 [bands * FRAMES] of norm 1), or None if too short or at too low a rate."""
    if rate_hz < 2 * BAND_EDGES_HZ[-1][1]:
        return None
    window = int(0.025 * rate_hz)
    hop = FRAME_SECONDS * rate_hz
    starts = np.round(np.arange(0, max(1, len(samples) - window), hop)).astype(int)
    if len(samples) < window or len(starts) < 10:
        return None
    frames = samples[starts[:, None] + np.arange(window)] * signal.windows.hann(window).astype(np.float32)
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    hz = np.fft.rfftfreq(window, 1 / rate_hz)
    bands = np.stack([power[:, (hz >= low) & (hz < high)].sum(1) for low, high in BAND_EDGES_HZ], 1)
    loudness = 10 * np.log10(bands.sum(1) + 1e-12)
    heard = np.flatnonzero(loudness > loudness.max() - HEARD_DB)
    first, last = heard[0], heard[-1] + 1
    seconds = (last - first) * FRAME_SECONDS
    if seconds < MIN_SECONDS:
        return None
    levels = 10 * np.log10(bands[first:last] + 1e-12)
    levels = np.maximum(levels, levels.max(0) - HEARD_DB)
    at = np.linspace(0, len(levels) - 1, FRAMES)
    print_ = np.stack([np.interp(at, np.arange(len(levels)), band) for band in levels.T])
    print_ -= print_.mean(1, keepdims=True)
    return seconds, (print_ / (np.linalg.norm(print_) + 1e-9)).ravel().astype(np.float32)


def group_duplicates(fingerprints, same=SAME):
    """A group number per item of [fingerprint() or None]; unique items have groups of their own."""
    groups = np.arange(len(fingerprints))

    def root(index):
        while groups[index] != index:
            groups[index] = groups[groups[index]]
            index = groups[index]
        return index

    known = sorted((entry[0], index) for index, entry in enumerate(fingerprints) if entry is not None)
    if not known:
        return groups
    seconds, order = (np.array(column) for column in zip(*known))
    prints = np.stack([fingerprints[index][1] for index in order])
    block = 256
    for first in range(0, len(order), block):
        last = int(np.searchsorted(seconds, seconds[min(first + block, len(order)) - 1] * (1 + LENGTHS_ALIKE), "right"))
        likeness = prints[first : first + block] @ prints[first:last].T
        for row, column in zip(*np.nonzero(likeness > same)):
            if column > row and seconds[first + column] <= seconds[first + row] * (1 + LENGTHS_ALIKE):
                one, other = root(order[first + row]), root(order[first + column])
                groups[max(one, other)] = min(one, other)
    return np.array([root(index) for index in range(len(groups))])
