# SPDX-License-Identifier: Apache-2.0
"""Copy-synthesis through pitch, spectral envelope and band aperiodicity, after the ideas of WORLD (Morise et al. 2016).

The parameters may be reduced and smoothed in between, as in statistical synthesis and voice conversion.
"""

import numpy as np
from scipy import fft, ndimage

from features.recipe import SAMPLE_RATE_HZ
from signals.pitch_tracker import frames_around, track_pitch_hz

FFT_SIZE = 1024
BIN_HZ = SAMPLE_RATE_HZ / FFT_SIZE
BINS = FFT_SIZE // 2 + 1
MIN_PITCH_HZ, MAX_PITCH_HZ = 71, 500  # three periods of the lowest fit into FFT_SIZE
UNVOICED_WINDOW_HZ, UNVOICED_SEGMENT_HZ = 400, 200
POWER_FLOOR = 1e-10
RESPONSE_CENTRE = 42  # samples from a pulse to the middle of its response's energy, median over clips of speech


def _at(values, position):
    """values [frames, n] linearly interpolated at position [frames, m] (in columns, clipped to the last)."""
    position = np.clip(position, 0, values.shape[1] - 1.001)
    whole = position.astype(np.int64)
    part = position - whole
    return (1 - part) * np.take_along_axis(values, whole, 1) + part * np.take_along_axis(values, whole + 1, 1)


def _windowed(samples, hop, pitch_hz, periods):
    """Frames under a Hann window of this many periods, scaled so that the power of its window is 1."""
    time = (np.arange(FFT_SIZE) - FFT_SIZE // 2) / SAMPLE_RATE_HZ
    turns = (time * (pitch_hz[:, None] / periods)).astype(np.float32)
    window = np.where(np.abs(turns) < 0.5, 0.5 + 0.5 * np.cos(2 * np.pi * turns), 0)
    window /= np.sqrt(np.sum(window**2, axis=1, keepdims=True))
    frames = frames_around(samples, hop, FFT_SIZE) * window
    return frames - window * (frames.sum(axis=1, keepdims=True) / window.sum(axis=1, keepdims=True))


def _box_smoothed(power, width_hz):
    """Each bin the mean over width_hz [frames] around it, mirrored at both ends."""
    margin = 32
    mirrored = np.concatenate([power[:, margin:0:-1], power, power[:, -2 : -margin - 2 : -1]], axis=1)
    integral = np.pad(np.cumsum(mirrored, axis=1, dtype=np.float64), ((0, 0), (1, 0)))
    half = width_hz[:, None] / BIN_HZ / 2
    centre = margin + 0.5 + np.arange(BINS)
    return (_at(integral, centre + half) - _at(integral, centre - half)) / (2 * half)


def spectral_envelope(samples, pitch_hz, hop):
    """[frames, BINS] log power density without the harmonics: a window of three periods removes traces of its position;
    smoothing over two thirds of the pitch and liftering (CheapTrick, Morise 2015) remove the harmonics."""
    voiced = pitch_hz > 0
    pitch_hz = np.where(voiced, np.clip(pitch_hz, MIN_PITCH_HZ, MAX_PITCH_HZ), UNVOICED_WINDOW_HZ)
    power = np.abs(fft.rfft(_windowed(samples, hop, pitch_hz, 3), axis=1)) ** 2
    # Below the fundamental there is no harmonic to measure: the part above it is mirrored down.
    mirror = (voiced * pitch_hz)[:, None] / BIN_HZ - np.arange(BINS)
    power += np.where(mirror > 0, _at(power, mirror), 0)
    smoothed = np.log(_box_smoothed(power, 2 / 3 * pitch_hz) + POWER_FLOOR)
    quefrency = np.minimum(np.arange(FFT_SIZE), FFT_SIZE - np.arange(FFT_SIZE)) / SAMPLE_RATE_HZ
    turns = quefrency * pitch_hz[:, None]
    lifter = np.sinc(turns) * (1.18 - 0.18 * np.cos(2 * np.pi * turns))
    return fft.rfft(fft.irfft(smoothed, axis=1) * lifter, axis=1).real


def band_aperiodicity(samples, pitch_hz, hop, bands):
    """[frames, BINS] share of noise in the power, 1 where unvoiced: the power halfway between harmonics, where a Hann
    window of four periods has its zeros, against the power at the harmonics, in bands; 0.001 is assumed at 0 Hz and 1
    at 8 kHz."""
    voiced = pitch_hz > 0
    pitch_hz = np.clip(pitch_hz, MIN_PITCH_HZ, MAX_PITCH_HZ)
    power = np.abs(fft.rfft(_windowed(samples, hop, pitch_hz, 4), 2 * FFT_SIZE, axis=1)) ** 2 + POWER_FLOOR
    hz = np.arange(1, int(SAMPLE_RATE_HZ / MIN_PITCH_HZ)) * pitch_hz[:, None] / 2  # halfway, harmonic, halfway, ..
    power = _at(power, hz / (BIN_HZ / 2))
    centres_hz = np.arange(1, bands + 1) * SAMPLE_RATE_HZ / 2 / (bands + 1)
    knots = [np.full(len(power), np.log(1e-3))]
    for centre_hz in centres_hz:
        inside = np.abs(hz - centre_hz) <= centres_hz[0] / 2
        between, at = (np.mean(power[:, odd::2], axis=1, where=inside[:, odd::2]) for odd in (0, 1))
        # The window sees 1.5 / 4 of the noise that lies between one harmonic and the next.
        harmonic = 0.375 * np.maximum(at - between, 0)
        knots.append(np.log(between / (between + harmonic + 1e-12) + 1e-6))
    knots.append(np.zeros(len(power)))
    position = np.arange(BINS) * BIN_HZ / centres_hz[0]
    share = np.minimum(1, np.exp(_at(np.column_stack(knots), np.broadcast_to(position, (len(power), BINS)))))
    return np.where(voiced[:, None], share, 1.0)


def _mel_cepstrum_basis(order):
    """[order + 1, BINS] cosines on the all-pass warped frequency axis and their weighted least-squares inverse."""
    alpha, omega = 0.42, np.linspace(0, np.pi, BINS)
    warped = omega + 2 * np.arctan2(alpha * np.sin(omega), 1 - alpha * np.cos(omega))
    basis = np.cos(np.arange(order + 1)[:, None] * warped)
    weighted = basis * np.gradient(warped)
    return basis, np.linalg.solve(weighted @ basis.T, weighted).T


def statistical_envelope(log_power, order, smoothing_frames, lost_deviation):
    """The envelope as from a model of mel-cepstra: fewer dimensions, smooth over time, less varied."""
    basis, inverse = _mel_cepstrum_basis(order)
    cepstrum = log_power @ inverse
    if smoothing_frames > 0:
        cepstrum = ndimage.gaussian_filter1d(cepstrum, smoothing_frames, axis=0)
    mean = cepstrum.mean(axis=0)
    kept = 1 - lost_deviation * np.minimum(1, np.arange(order + 1) / 12)  # keeps the level, coefficient 0
    return (mean + (cepstrum - mean) * kept) @ basis


def smoothed_pitch(pitch_hz, smoothing_frames):
    """Log pitch smoothed over time, voicing unchanged."""
    voiced = pitch_hz > 0
    if not np.any(voiced) or smoothing_frames <= 0:
        return pitch_hz
    frames = np.arange(len(pitch_hz))
    log_pitch = np.interp(frames, frames[voiced], np.log(pitch_hz[voiced]))
    return np.where(voiced, np.exp(ndimage.gaussian_filter1d(log_pitch, smoothing_frames)), 0)


def _segments(pitch_hz, hop, count):
    """The start of each period, in (fractional) samples, and its length; unvoiced stretches also have periods."""
    frame = np.arange(count) / hop
    voiced = pitch_hz[np.minimum((frame + 0.5).astype(int), len(pitch_hz) - 1)] > 0
    known = np.flatnonzero(pitch_hz > 0)
    contour = np.interp(frame, known, pitch_hz[known]) if len(known) else np.zeros(count)
    step = np.where(voiced, contour, UNVOICED_SEGMENT_HZ) / SAMPLE_RATE_HZ
    turns = np.cumsum(step)
    first = np.flatnonzero(np.diff(np.floor(turns), prepend=0) > 0)
    begins = first - (turns[first] % 1) / step[first]
    return np.maximum(begins, 0), np.maximum(np.diff(begins, append=count), 1), voiced[first]


def synthesise(log_power, aperiodicity, pitch_hz, hop, count, rng):
    """Every period is a pulse and a piece of noise through the minimum-phase filter of its time; sums them."""
    lead = 16  # room for the ripple of a pulse between two samples
    begins, periods, voiced = _segments(pitch_hz, hop, count)
    out = np.zeros(count + 2 * FFT_SIZE)
    log_power, aperiodicity = log_power.astype(np.float32), aperiodicity.astype(np.float32)
    fold = np.concatenate([[1], np.full(BINS - 2, 2), [1], np.zeros(BINS - 2)]).astype(np.float32)
    omega = (2 * np.pi * np.arange(BINS) / FFT_SIZE).astype(np.float32)
    for first in range(0, len(begins), 256):
        begin, period = begins[first : first + 256], periods[first : first + 256]
        frame = np.minimum(begin / hop, len(log_power) - 1)
        before, part = frame.astype(np.int64), (frame % 1).astype(np.float32)[:, None]
        after = np.minimum(before + 1, len(log_power) - 1)
        logs = 0.5 * ((1 - part) * log_power[before] + part * log_power[after])
        noise_share = (1 - part) * aperiodicity[before] + part * aperiodicity[after]
        filters = np.exp(fft.rfft(fft.irfft(logs, axis=1) * fold, axis=1))
        whole = begin.astype(np.int64)
        delay = np.exp(-1j * omega * (begin - whole + lead).astype(np.float32)[:, None])
        pulses = delay * np.sqrt((1 - noise_share) * period[:, None].astype(np.float32))
        # A pulse train has a mean, and a varying one also energy below its fundamental, where speech has none.
        pulses *= np.minimum(1, omega / (2 * np.pi) * period[:, None].astype(np.float32)) ** 2
        pulses[~voiced[first : first + 256]] = 0
        widths = np.diff(np.append(whole, int(begin[-1] + period[-1] + 0.5)))
        noise = rng.standard_normal((len(begin), FFT_SIZE // 2), dtype=np.float32) * (
            np.arange(FFT_SIZE // 2) < widths[:, None]
        )
        noise = np.exp(-1j * omega * lead) * fft.rfft(noise, FFT_SIZE, axis=1) * np.sqrt(noise_share)
        for start, response in zip(whole, fft.irfft(filters * (pulses + noise), axis=1)):
            out[start : start + FFT_SIZE] += response
    return out[lead + RESPONSE_CENTRE :][:count].astype(np.float32)


def world(samples, rng):
    """The full envelope: only the excitation and the phase remain audible."""
    hop = int(rng.choice([80, 160]))
    pitch_hz = track_pitch_hz(samples, hop)
    log_power = spectral_envelope(samples, pitch_hz, hop)
    aperiodicity = band_aperiodicity(samples, pitch_hz, hop, int(rng.choice([1, 2, 5, 8])))
    return synthesise(log_power, aperiodicity, pitch_hz * rng.uniform(0.9, 1.1), hop, len(samples), rng)


def world_statistical(samples, rng):
    """With a low-order mel-cepstrum, smoothed over time and less varied."""
    hop = int(rng.choice([80, 160]))
    pitch_hz = track_pitch_hz(samples, hop)
    smoothing_frames = rng.choice([0, rng.uniform(0.008, 0.03)]) * SAMPLE_RATE_HZ / hop
    log_power = statistical_envelope(
        spectral_envelope(samples, pitch_hz, hop),
        int(rng.choice([24, 34, 60])),
        smoothing_frames,
        rng.choice([0, rng.uniform(0.05, 0.35)]),
    )
    aperiodicity = band_aperiodicity(samples, pitch_hz, hop, int(rng.choice([1, 2, 5])))
    if smoothing_frames > 0:
        aperiodicity = ndimage.gaussian_filter1d(aperiodicity, smoothing_frames, axis=0)
    pitch_hz = smoothed_pitch(pitch_hz, 2 * smoothing_frames) * rng.uniform(0.9, 1.1)
    return synthesise(log_power, aperiodicity, pitch_hz, hop, len(samples), rng)
