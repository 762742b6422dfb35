# SPDX-License-Identifier: Apache-2.0
"""Sequences of speech clips, pauses and noise with the label of every 10 ms frame."""

from dataclasses import dataclass

import numpy as np
from scipy import fft

from features.recipe import SAMPLE_RATE_HZ
from vad import noises
from vad.frame_labels import HOP_SAMPLES

SPEECH_LEVEL_DB = -26


@dataclass
class Sequence:
    samples: np.ndarray  # float32 [160 * frames]
    speech: np.ndarray  # bool [frames]
    core: np.ndarray


def _gain(db):
    return 10 ** (db / 20)


def active_rms(sound):
    """RMS of the 10 ms frames within 40 dB of the loudest, so that pauses between clicks do not count."""
    power = np.mean(np.square(sound[: len(sound) // HOP_SAMPLES * HOP_SAMPLES].reshape(-1, HOP_SAMPLES)), axis=1)
    return np.sqrt(np.mean(power[power >= power.max() * 1e-4])) + 1e-12


def lay_out(clips, frames, pause_s, rng):
    """Clips at SPEECH_LEVEL_DB, one after another, with pauses of about pause_s of digital silence in between."""
    samples = np.zeros(frames * HOP_SAMPLES, np.float32)
    speech, core = np.zeros(frames, bool), np.zeros(frames, bool)
    at = int(rng.exponential(pause_s) * 100) if rng.random() < 0.7 else 0
    for clip in clips:
        count = min(len(clip.speech), frames - at)
        if count <= 0:
            break
        samples[at * HOP_SAMPLES : (at + count) * HOP_SAMPLES] = clip.samples[: count * HOP_SAMPLES] * _gain(
            SPEECH_LEVEL_DB - clip.level_db
        )
        speech[at : at + count], core[at : at + count] = clip.speech[:count], clip.core[:count]
        at += count + int(rng.exponential(pause_s) * 100)
    return Sequence(samples, speech, core)


def babble(samples, clips, rng):
    """Six to ten voices at once, each without its pauses."""
    mixture = np.zeros(samples, np.float32)
    for _ in range(rng.integers(6, 11)):
        voice = []
        while sum(map(len, voice)) < samples:
            clip = clips[rng.integers(len(clips))]
            spoken = clip.samples.reshape(-1, HOP_SAMPLES)[clip.speech].ravel()
            voice.append(spoken / active_rms(spoken))
        mixture += np.concatenate(voice)[:samples]
    return mixture


def add_noise(sequence, noise, snr_db):
    """The speech has SPEECH_LEVEL_DB."""
    sequence.samples = sequence.samples + (noise * (_gain(SPEECH_LEVEL_DB - snr_db) / active_rms(noise))).astype(
        np.float32
    )


def to_16_bit(samples):
    return (np.clip(np.round(samples * 32768), -32768, 32767) / 32768).astype(np.float32)


# Kinds of noise and their frequency in training.
_TRAINING_NOISES = {
    noises.white: 2,
    noises.pink: 2,
    noises.brown: 1,
    noises.coloured: 3,
    noises.unsteady: 3,
    noises.hum: 2,
    noises.room_tone: 3,
    noises.clicks: 3,
    noises.tones: 2,
    noises.engine: 2,
    noises.music: 3,
}


def _random_noise(samples, rng):
    kinds, weights = list(_TRAINING_NOISES), np.array(list(_TRAINING_NOISES.values()), float)
    noise = kinds[rng.choice(len(kinds), p=weights / weights.sum())](samples, rng)
    return noise / active_rms(noise)


def _channel(samples, rng):
    """A random microphone or line: tilt, smooth curve, band limits, perhaps a short room."""
    size = fft.next_fast_len(len(samples) + 4000, real=True)
    spectrum = fft.rfft(samples, size)
    hz = np.linspace(0, SAMPLE_RATE_HZ / 2, len(spectrum))
    knots_hz = np.geomspace(60, 8000, 6)
    db = np.interp(np.log(np.maximum(hz, 30)), np.log(knots_hz), rng.normal(0, 3, 6))
    if rng.random() < 0.3:
        db -= np.clip((hz - rng.choice([3400, 4000, 5500])) / 200, 0, 1) * rng.uniform(30, 80)
    if rng.random() < 0.3:
        db -= np.clip(np.log2(rng.uniform(80, 350) / np.maximum(hz, 1)), 0, 3) * 18
    spectrum *= 10 ** (db / 20)
    if rng.random() < 0.3:
        t60_s = rng.uniform(0.1, 0.4)
        tail = rng.standard_normal(4000) * 10 ** (-3 * np.arange(4000) / (t60_s * SAMPLE_RATE_HZ))
        tail *= _gain(-rng.uniform(3, 15)) / np.linalg.norm(tail)
        tail[0] = 1
        spectrum *= fft.rfft(tail, size)
    return fft.irfft(spectrum, size)[: len(samples)].astype(np.float32)


def training_sequence(clips, frames, rng):
    """Speech with any of the noises at -3 to 40 dB, or noise alone, at -66 to -6 dBFS, perhaps in 16 bits.
    Returns the sequence and a mask of frames with meaningful labels, bool [frames]."""
    samples = frames * HOP_SAMPLES
    spoken = rng.random() < 0.85
    chosen = [clips[i] for i in rng.integers(len(clips), size=12)] if spoken else []
    sequence = lay_out(chosen, frames, rng.choice([0.3, 1, 2]), rng)
    if spoken and rng.random() < 0.4:
        sequence.samples = _channel(sequence.samples, rng)
    kind = rng.random()
    known = np.ones(frames, bool)
    if kind < 0.08:
        # Background voices are not noise to be rejected.
        add_noise(sequence, babble(samples, clips, rng), rng.uniform(-3, 30))
        known = sequence.speech.copy()
    elif kind < 0.85:
        add_noise(sequence, _random_noise(samples, rng), rng.uniform(-3, 40))
        if rng.random() < 0.3:
            add_noise(sequence, _random_noise(samples, rng), rng.uniform(-3, 40))
    elif kind < 0.93:
        sequence.samples = sequence.samples + noises.dithered_silence(samples, rng).astype(np.float32)
    sequence.samples = sequence.samples * np.float32(_gain(rng.uniform(-40, 20)))
    if rng.random() < 0.05:  # the noise is switched on or off somewhere, or the recording is cut
        cut = rng.integers(frames)
        sequence.samples[: cut * HOP_SAMPLES] = 0
        sequence.speech[:cut] = sequence.core[:cut] = False
        known[:cut] = True
    if rng.random() < 0.7:
        sequence.samples = to_16_bit(sequence.samples)
    return sequence, known
