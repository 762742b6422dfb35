# SPDX-License-Identifier: Apache-2.0
"""The voice's position in its cycle: a track of the recording's fundamental, and pulses in step with it.

A generator that hears pulses in step with the glottis starts with coherent harmonics; without them it needs hundreds of
thousands of steps to learn them. The phase of the fundamental is measured, so that copy and recording can also be
compared sample by sample."""

import numpy as np
import torch
from scipy.signal import resample_poly

from features.recipe import SAMPLE_RATE_HZ
from signals.pitch_tracker import track_pitch_hz

TRACK_HOP_S = 0.005
_HOP = int(TRACK_HOP_S * SAMPLE_RATE_HZ)
_UNVOICED_HZ = 120.0


def track(samples, rate_hz):
    """float32 [1 + n * 0.005 s, 2]: cycles of the fundamental since the start, and 1 where voiced. float32 [n] in."""
    if rate_hz != SAMPLE_RATE_HZ:
        divisor = np.gcd(SAMPLE_RATE_HZ, rate_hz)
        samples = resample_poly(samples, SAMPLE_RATE_HZ // divisor, rate_hz // divisor).astype(np.float32)
    pitch_hz = track_pitch_hz(samples, _HOP)
    voiced, at = pitch_hz > 0, np.arange(len(pitch_hz))
    filled = np.interp(at, at[voiced], pitch_hz[voiced]) if voiced.any() else np.full(len(at), _UNVOICED_HZ)
    hz = np.interp(np.arange(len(samples)), at * _HOP, filled)
    cycles = np.cumsum(hz) / SAMPLE_RATE_HZ
    # The recording against the tracked tone, averaged over 30 ms: the remaining phase changes slowly.
    turned = samples * np.exp(-2j * np.pi * cycles)
    window = np.hanning(482)[1:-1]
    slow = np.convolve(turned, window / window.sum(), "same")[::_HOP]
    slow = np.where(voiced[: len(slow)], slow, 0)
    residual = np.zeros(len(at))
    heard = np.flatnonzero(np.abs(slow) > 0)
    if len(heard):
        unwrapped = np.unwrap(np.angle(slow[heard])) / (2 * np.pi)
        residual = np.interp(at, heard, unwrapped)
    ends = np.minimum(at * _HOP, len(samples) - 1)
    return np.stack([cycles[ends] + residual, voiced], 1).astype(np.float32)


def excitation(track_rows, start, count, rate_hz):
    """float32 [2, count] from sample `start` on: pulses of unit power while voiced, and 1 while voiced."""
    positions = (start - 1 + np.arange(count + 1)) / (rate_hz * TRACK_HOP_S)
    at = np.arange(len(track_rows))
    cycles = np.interp(positions, at, track_rows[:, 0].astype(np.float64))
    voiced = np.interp(positions[1:], at, track_rows[:, 1])
    advance = np.maximum(np.diff(cycles), 1e-4)
    # A pulse between two samples is split between both, so that its position is not rounded.
    whole = np.floor(cycles)
    pulses = np.zeros(count + 1)
    crossing = np.flatnonzero(np.diff(whole) > 0)
    share = (whole[crossing + 1] - cycles[crossing]) / advance[crossing]
    height = 1 / np.sqrt(advance[crossing])
    np.add.at(pulses, crossing, height * (1 - share))
    np.add.at(pulses, crossing + 1, height * share)
    return np.stack([pulses[1:] * voiced, voiced]).astype(np.float32)


def with_noise(pulses):
    """[batch, 2, n] of excitation() to [batch, 2, n]: pulses, and noise of unit power throughout."""
    return torch.stack([pulses[:, 0], torch.randn_like(pulses[:, 0])], 1)
