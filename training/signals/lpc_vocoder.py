# SPDX-License-Identifier: Apache-2.0
"""Copy-synthesis by linear prediction: the filter of each frame, driven by pulses and noise. A coarsened residual does
not make a spoof: that is how a telephone codes a human voice."""

import numpy as np
from scipy import fft, linalg, signal

from features.recipe import SAMPLE_RATE_HZ
from signals.pitch_tracker import frames_around, track_pitch_hz

HOP, WIDTH = 80, 400
PULSE_CENTRE = 32  # samples from a pulse to the middle of its response's energy, median over clips of speech


def reflection_coefficients(samples, order):
    """[1 + len(samples) // HOP, order] by the Levinson-Durbin recursion over all frames at once."""
    frames = frames_around(samples, HOP, WIDTH) * np.hanning(WIDTH)
    correlation = fft.irfft(np.abs(fft.rfft(frames, 1024)) ** 2)[:, : order + 1]
    # Adds white noise 50 dB down, which keeps the filters of hum and silence stable.
    correlation[:, 0] = correlation[:, 0] * (1 + 1e-5) + 1e-9
    predictor, error = np.zeros((len(frames), order + 1)), correlation[:, 0].copy()
    predictor[:, 0] = 1
    reflection = np.zeros((len(frames), order))
    for step in range(order):
        ahead = np.sum(predictor[:, : step + 1] * correlation[:, step + 1 : 0 : -1], axis=1)
        reflection[:, step] = -ahead / error
        predictor[:, : step + 2] += reflection[:, step, None] * predictor[:, step + 1 :: -1]
        error *= 1 - reflection[:, step] ** 2
    return reflection


def whitening_filters(reflection):
    """[frames, order + 1] whitening filters, the first coefficient 1."""
    predictor = np.zeros((len(reflection), reflection.shape[1] + 1))
    predictor[:, 0] = 1
    for step in range(reflection.shape[1]):
        predictor[:, : step + 2] += reflection[:, step, None] * predictor[:, step + 1 :: -1]
    return predictor


def _choose_predictors(samples, rng):
    """With a random order; half of the clips with log area ratios of about 3 to 6 bits, as in speech codecs."""
    reflection = reflection_coefficients(samples, int(rng.integers(16, 27)))
    if rng.random() < 0.5:
        steps = rng.uniform(2, 12)
        reflection = np.tanh(np.round(np.arctanh(np.clip(reflection, -0.9999, 0.9999)) * steps) / steps)
    # Gives resonances a bandwidth of at least 25 Hz, so that they decay.
    return whitening_filters(np.clip(reflection, -0.9995, 0.9995)) * 0.995 ** np.arange(reflection.shape[1] + 1)


def _frame_of_samples(count):
    return np.minimum((np.arange(count) + HOP // 2) // HOP, count // HOP)


def residual_of(samples, predictors):
    """The output of the frames' whitening filters, with the length of the samples."""
    frame, order = _frame_of_samples(len(samples)), predictors.shape[1] - 1
    padded = np.pad(samples, (order, 0))
    return sum(predictors[frame, lag] * padded[order - lag : order - lag + len(samples)] for lag in range(order + 1))


def _state(predictor, past):
    """The all-pole filter's state (as lfilter keeps it) after the samples `past`, oldest first."""
    return -linalg.hankel(predictor[1:]) @ past[::-1]


def through_filters(excitation, predictors):
    """The inverse of residual_of: each frame's all-pole filter continues from the samples of the one before."""
    order = predictors.shape[1] - 1
    out = np.zeros(order + len(excitation))
    borders = np.append(np.flatnonzero(np.diff(_frame_of_samples(len(excitation)), prepend=-1)), len(excitation))
    for predictor, first, last in zip(predictors, borders[:-1], borders[1:]):
        state = _state(predictor, out[first : first + order])
        out[order + first : order + last], _ = signal.lfilter([1.0], predictor, excitation[first:last], zi=state)
    return out[order:].astype(np.float32)


def _gain(residual):
    """Per sample: root mean square of the residual around its frame."""
    per_frame = np.sqrt(np.mean(frames_around(residual, HOP, 2 * HOP) ** 2, axis=1) + 1e-12)
    return np.interp(np.arange(len(residual)), np.arange(len(per_frame)) * HOP, per_frame)


def lpc_pulses(samples, rng):
    """Pulses at the pitch or noise, or some of both: the robotic voice of early vocoders."""
    predictors = _choose_predictors(samples, rng)
    gain = _gain(residual_of(samples, predictors))
    pitch_hz = track_pitch_hz(samples, HOP)[_frame_of_samples(len(samples))] * rng.uniform(0.9, 1.1)
    begins = np.diff(np.floor(np.cumsum(pitch_hz) / SAMPLE_RATE_HZ), prepend=0)
    # The second term removes the mean, which few frames' filters would.
    pulses = begins * np.sqrt(SAMPLE_RATE_HZ / np.maximum(pitch_hz, 1)) - np.sqrt(pitch_hz / SAMPLE_RATE_HZ)
    noise = rng.standard_normal(len(samples))
    noise_share = np.where(pitch_hz > 0, rng.choice([0, rng.uniform(0, 0.4)]), 1)
    excitation = gain * (np.sqrt(1 - noise_share) * pulses + np.sqrt(noise_share) * noise)
    return np.pad(through_filters(excitation, predictors), (0, PULSE_CENTRE))[PULSE_CENTRE:]
