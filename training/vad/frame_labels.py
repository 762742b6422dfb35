# SPDX-License-Identifier: Apache-2.0
"""Definition of a speech frame for training and measuring the detector. docs/vad.md explains it."""

import numpy as np
from scipy import ndimage, signal

from features.recipe import SAMPLE_RATE_HZ

HOP_SAMPLES = 160
_WINDOW_SAMPLES = 400
_HIGH_PASS = signal.butter(4, 100, "highpass", fs=SAMPLE_RATE_HZ, output="sos")

MAX_PAUSE_FRAMES = 20
MIN_SPEECH_FRAMES = 5
MARGIN_FRAMES = 2


def frame_levels_db(samples):
    """Level of the 25 ms around each 10 ms frame, above 100 Hz, in dB. samples: [n]. Returns [ceil(n / 160)]."""
    frames = -(-len(samples) // HOP_SAMPLES)
    filtered = signal.sosfilt(_HIGH_PASS, samples.astype(np.float64))
    overhang = (_WINDOW_SAMPLES - HOP_SAMPLES) // 2
    padded = np.pad(filtered, (overhang, frames * HOP_SAMPLES - len(samples) + overhang))
    energy = np.concatenate([[0.0], np.cumsum(padded**2)])
    starts = np.arange(frames) * HOP_SAMPLES
    power = (energy[starts + _WINDOW_SAMPLES] - energy[starts]) / _WINDOW_SAMPLES
    return 10 * np.log10(np.maximum(power, 1e-12))


def level_range_db(samples):
    """(loud, quiet): the levels that 5 % of the frames exceed, and that 5 % stay below."""
    levels = frame_levels_db(samples)
    return np.quantile(levels, 0.95), np.quantile(levels, 0.05)


def _runs(mask):
    """[start, end) of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return edges.reshape(-1, 2)


def label_speech(samples):
    """Speech frames of a clean clip. Returns (speech, core), bool [ceil(n / 160)] each: `core` frames are loud enough
    by themselves; `speech` also includes the short pauses between them and a margin on both sides."""
    levels = frame_levels_db(samples)
    loud, quiet = np.quantile(levels, 0.95), np.quantile(levels, 0.05)
    threshold = min(max(loud - 35, quiet + 9), loud - 20)
    core = levels > threshold
    for start, end in _runs(~core):
        if end - start <= 3 and start > 0 and end < len(core):
            core[start:end] = True
    for start, end in _runs(core):
        if end - start < MIN_SPEECH_FRAMES:
            core[start:end] = False
    speech = core.copy()
    for start, end in _runs(~core):
        if end - start <= MAX_PAUSE_FRAMES and start > 0 and end < len(core):
            speech[start:end] = True
    return ndimage.binary_dilation(speech, iterations=MARGIN_FRAMES), core
