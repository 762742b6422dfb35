# SPDX-License-Identifier: Apache-2.0
"""Copy-synthesis by linear prediction: the filter of each frame, driven by pulses and noise or by a coarsened residual,
which leaves a noise like that of sample-by-sample generators."""

import numpy as np
from scipy import fft, linalg, signal

from pitch_tracker import SAMPLE_RATE_HZ, frames_around, track_pitch_hz

HOP, WIDTH = 80, 400
PULSE_CENTRE = 32  # samples from a pulse to the middle of its response's energy, median over clips of speech
ADPCM_SEGMENT = 1600


def reflection_coefficients(samples, order):
    """[1 + len(samples) // HOP, order] by the Levinson-Durbin recursion over all frames at once."""
    frames = frames_around(samples, HOP, WIDTH) * np.hanning(WIDTH)
    correlation = fft.irfft(np.abs(fft.rfft(frames, 1024)) ** 2)[:, :order + 1]
    # A floor of white noise 50 dB down keeps the filters of hum and of silence tame.
    correlation[:, 0] = correlation[:, 0] * (1 + 1e-5) + 1e-9
    predictor, error = np.zeros((len(frames), order + 1)), correlation[:, 0].copy()
    predictor[:, 0] = 1
    reflection = np.zeros((len(frames), order))
    for step in range(order):
        ahead = np.sum(predictor[:, :step + 1] * correlation[:, step + 1:0:-1], axis=1)
        reflection[:, step] = -ahead / error
        predictor[:, :step + 2] += reflection[:, step, None] * predictor[:, step + 1::-1]
        error *= 1 - reflection[:, step] ** 2
    return reflection


def whitening_filters(reflection):
    """[frames, order + 1] whitening filters, the first coefficient 1."""
    predictor = np.zeros((len(reflection), reflection.shape[1] + 1))
    predictor[:, 0] = 1
    for step in range(reflection.shape[1]):
        predictor[:, :step + 2] += reflection[:, step, None] * predictor[:, step + 1::-1]
    return predictor


def _choose_predictors(samples, rng):
    """Of a random order; half of the clips with log area ratios of 3 to 6 bits or so, as speech codecs send them."""
    reflection = reflection_coefficients(samples, int(rng.integers(16, 27)))
    if rng.random() < 0.5:
        steps = rng.uniform(2, 12)
        reflection = np.tanh(np.round(np.arctanh(np.clip(reflection, -0.9999, 0.9999)) * steps) / steps)
    # A resonance of 25 Hz or more dies away: narrower ones let the loops of codebook and ADPCM run off.
    return whitening_filters(np.clip(reflection, -0.9995, 0.9995)) * 0.995 ** np.arange(reflection.shape[1] + 1)


def _frame_of_samples(count):
    return np.minimum((np.arange(count) + HOP // 2) // HOP, count // HOP)


def residual_of(samples, predictors):
    """What the frames' whitening filters leave of the samples, as many of them."""
    frame, order = _frame_of_samples(len(samples)), predictors.shape[1] - 1
    padded = np.pad(samples, (order, 0))
    return sum(predictors[frame, lag] * padded[order - lag:order - lag + len(samples)] for lag in range(order + 1))


def _state(predictor, past):
    """The all-pole filter's state (as lfilter keeps it) after the samples `past`, oldest first."""
    return -linalg.hankel(predictor[1:]) @ past[::-1]


def through_filters(excitation, predictors):
    """The inverse of residual_of: each frame's all-pole filter goes on from the samples that the one before left."""
    order = predictors.shape[1] - 1
    out = np.zeros(order + len(excitation))
    borders = np.append(np.flatnonzero(np.diff(_frame_of_samples(len(excitation)), prepend=-1)), len(excitation))
    for predictor, first, last in zip(predictors, borders[:-1], borders[1:]):
        state = _state(predictor, out[first:first + order])
        out[order + first:order + last], _ = signal.lfilter([1.0], predictor, excitation[first:last], zi=state)
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
    # The second term takes the mean away, which few frames' filters would.
    pulses = begins * np.sqrt(SAMPLE_RATE_HZ / np.maximum(pitch_hz, 1)) - np.sqrt(pitch_hz / SAMPLE_RATE_HZ)
    noise = rng.standard_normal(len(samples))
    noise_share = np.where(pitch_hz > 0, rng.choice([0, rng.uniform(0, 0.4)]), 1)
    excitation = gain * (np.sqrt(1 - noise_share) * pulses + np.sqrt(noise_share) * noise)
    return np.pad(through_filters(excitation, predictors), (0, PULSE_CENTRE))[PULSE_CENTRE:]


def lpc_mu_law_residual(samples, rng):
    """The residual in 4 to 6 bits of mu-law: the error gets the spectrum of the filter, speech-shaped."""
    predictors = _choose_predictors(samples, rng)
    residual = residual_of(samples, predictors)
    range_ = 5 * _gain(residual)
    levels = 2 ** (int(rng.integers(4, 7)) - 1) - 0.5
    x = np.clip(residual / range_, -1, 1)
    # Half a step of dither: without it the quietest samples of a period are all one level.
    coded = np.round(np.sign(x) * np.log1p(255 * np.abs(x)) / np.log(256) * levels + rng.uniform(-0.5, 0.5, len(x))) / levels
    return through_filters(range_ * np.sign(coded) * np.expm1(np.minimum(np.abs(coded), 1) * np.log(256)) / 255, predictors)


def lpc_adpcm(samples, rng):
    """One or two bits a sample with the filter inside the loop; feedback shapes the noise between white and the speech's."""
    predictors = _choose_predictors(samples, rng)
    gain = _gain(residual_of(samples, predictors))
    order, count = predictors.shape[1] - 1, len(samples)
    # One bit cannot follow the error of the filter's own feedback unless most of the noise takes the speech's shape.
    one_bit = rng.random() < 0.3
    levels = np.array([-0.798, 0.798] if one_bit else [-1.510, -0.453, 0.453, 1.510])  # best for normal values
    shaped = predictors * rng.uniform(0.9 if one_bit else 0.7, 0.97) ** np.arange(order + 1)
    # All segments of the clip take a step together, each starting from the true samples before it.
    starts = np.arange(0, count, ADPCM_SEGMENT)
    size = order + len(starts) * ADPCM_SEGMENT
    clip, gain = np.pad(samples, (order, size - order - count)), np.pad(gain, (0, size - order - count), mode="edge")
    history = clip[starts[:, None] + np.arange(order)].astype(np.float64)
    errors, out = np.zeros_like(history), np.zeros((len(starts), ADPCM_SEGMENT))
    frames = np.minimum(_frame_of_samples(size), len(predictors) - 1)
    for step in range(ADPCM_SEGMENT):
        frame, scale, wanted = frames[starts + step], gain[starts + step], clip[order + starts + step]
        predicted = -np.einsum("ij,ij->i", predictors[frame, :0:-1], history)
        target = wanted - np.einsum("ij,ij->i", shaped[frame, :0:-1], errors)
        level = levels[np.searchsorted((levels[1:] + levels[:-1]) / 2, (target - predicted) / scale)]
        out[:, step] = predicted + level * scale
        history = np.concatenate([history[:, 1:], out[:, step, None]], axis=1)
        errors = np.concatenate([errors[:, 1:], (out[:, step] - wanted)[:, None]], axis=1)
    return out.ravel()[:count].astype(np.float32)


def lpc_codebook(samples, rng):
    """Each 5 ms the past excitation and one of about a hundred random vectors, whichever sum sounds nearest to the clip."""
    predictors, size = _choose_predictors(samples, rng), 80
    order = predictors.shape[1] - 1
    codebook = rng.standard_normal((int(rng.choice([64, 128])), size), dtype=np.float32)
    codebook *= rng.random(codebook.shape) < rng.choice([0.1, 0.3, 1.0])  # sparse ones sound less hoarse
    codebook[:, 0] += 1e-3
    lags = np.arange(36, 260)
    past = np.arange(size) % lags[:, None] - lags[:, None]
    perceptual, steps_per_octave = rng.uniform(0.85, 0.97) ** np.arange(order + 1), rng.uniform(1.5, 4)
    count = -(-len(samples) // size) * size
    wanted = np.pad(samples.astype(np.float64), (order, count - len(samples)))
    out, excitation = np.zeros(order + count), np.zeros(lags[-1] + count, np.float32)
    impulse = np.eye(1, size)[0]
    for first in range(0, count, size):
        predictor = predictors[min((first + size // 2 + HOP // 2) // HOP, len(predictors) - 1)]
        weighted = predictor * perceptual
        ringing = signal.lfilter([1.0], predictor, np.zeros(size), zi=_state(predictor, out[first:first + order]))[0]
        # The error counts after A(z) / A(z / g): where the speech is loud, more of it is masked.
        target = signal.lfilter(predictor, weighted, wanted[order + first:order + first + size] - ringing).astype(np.float32)
        response = linalg.toeplitz(signal.lfilter([1.0], weighted, impulse), np.zeros(size)).T.astype(np.float32)
        now = lags[-1] + first
        chosen = np.zeros(size)
        for vectors, largest_gain in ((excitation[now + past], 1.2), (codebook, np.inf)):
            filtered = vectors @ response
            likeness, energy = filtered @ target, np.einsum("ij,ij->i", filtered, filtered) + 1e-9
            best = np.argmax(likeness ** 2 / energy)
            gain = np.clip(likeness[best] / energy[best], -largest_gain, largest_gain)
            gain = np.sign(gain) * 2 ** (np.round(np.log2(np.abs(gain) + 1e-9) * steps_per_octave) / steps_per_octave)
            chosen += gain * vectors[best]
            target = target - gain * filtered[best]
        excitation[now:now + size] = chosen
        out[order + first:order + first + size] = ringing + signal.lfilter([1.0], predictor, chosen)
    return out[order:order + len(samples)].astype(np.float32)
