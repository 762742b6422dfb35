# SPDX-License-Identifier: Apache-2.0
"""The mean spectrum of a whole window, 3.9 Hz from bin to bin: what a generator leaves in every frame, such as lines at
multiples of its frame rate, and what it leaves out, such as the rumble of a room. Single frames show neither."""

import numpy as np
from scipy.ndimage import median_filter

FFT_SIZE, HOP = 4096, 1024
BINS = FFT_SIZE // 2
SMOOTHED_BINS = 33  # of the median that is taken away: voice, microphone and equaliser are smoother than lines
QUIET = 0.1  # the quantile of a bin's powers that stands for the pauses
FLOOR = 1e-9


def long_spectrum(samples):
    """[n] at 16 kHz, full scale -1..1 -> float32 [2, BINS]: per bin the mean of the log powers of all frames, and the
    log power of the quiet ones, both less their running median over the bins. Less than a frame is repeated."""
    if len(samples) < FFT_SIZE:
        samples = np.resize(samples, FFT_SIZE)
    frames = np.lib.stride_tricks.sliding_window_view(samples, FFT_SIZE)[::HOP] * np.hanning(FFT_SIZE).astype(
        np.float32
    )
    power = np.abs(np.fft.rfft(frames, axis=1)[:, :BINS]).astype(np.float32) ** 2
    curves = np.log(power + FLOOR).mean(0), np.log(np.quantile(power, QUIET, axis=0) + FLOOR)
    return np.stack([curve - median_filter(curve, size=SMOOTHED_BINS) for curve in curves]).astype(np.float32)
