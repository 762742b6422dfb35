# SPDX-License-Identifier: Apache-2.0
"""Synthesised sounds that are not speech. Each function takes (samples, rng) and returns float32 [samples] at 16 kHz
of any level; every random choice comes from the numpy Generator passed in."""

import numpy as np
from scipy import fft

from features.recipe import SAMPLE_RATE_HZ


def _time_s(samples):
    return np.arange(samples) / SAMPLE_RATE_HZ


def _sine(cycles):
    """Sine of a phase in cycles, in single precision, which is several times faster."""
    return np.sin((2 * np.pi * np.mod(cycles, 1)).astype(np.float32))


def _coloured(samples, gain, rng):
    """Stationary noise with the magnitude gain(hz)."""
    size = fft.next_fast_len(samples, real=True)
    spectrum = rng.standard_normal((size // 2 + 1, 2), dtype=np.float32).view(np.complex64)[:, 0]
    hz = np.linspace(0, SAMPLE_RATE_HZ / 2, len(spectrum), dtype=np.float32)
    return fft.irfft(spectrum * gain(np.maximum(hz, 20)).astype(np.float32), size)[:samples]


def _to_unit(sound):
    return sound / (np.sqrt(np.mean(np.square(sound))) + 1e-9)


def _envelope(samples, rate_hz, depth_db, rng):
    """A smooth random gain that changes about rate_hz times a second."""
    knots = rng.uniform(-depth_db, 0, max(2, int(samples / SAMPLE_RATE_HZ * rate_hz) + 2))
    return 10 ** (np.interp(np.linspace(0, len(knots) - 1, samples), np.arange(len(knots)), knots) / 20)


def white(samples, rng):
    return rng.standard_normal(samples, dtype=np.float32)


def pink(samples, rng):
    return _coloured(samples, lambda hz: hz**-0.5, rng)


def brown(samples, rng):
    return _coloured(samples, lambda hz: 1 / hz, rng)


def coloured(samples, rng):
    """Noise of a random smooth spectrum: wind, water, engines, air conditioning."""
    knots_hz = np.geomspace(50, 8000, rng.integers(3, 10))
    knots_db = rng.normal(0, rng.uniform(2, 12), len(knots_hz)) - rng.uniform(-3, 9) * np.log2(knots_hz / 50)
    return _coloured(samples, lambda hz: 10 ** (np.interp(np.log(hz), np.log(knots_hz), knots_db) / 20), rng)


def unsteady(samples, rng):
    """Coloured noise that swells and ebbs, from slow wind to rustling."""
    return coloured(samples, rng) * _envelope(samples, rng.choice([0.3, 1, 3, 8]), rng.uniform(5, 30), rng)


def hum(samples, rng):
    """Mains hum: 50 or 60 Hz, slightly off, with harmonics that fall off at random."""
    base_hz = rng.choice([50, 60]) * rng.uniform(0.998, 1.002)
    sound = np.zeros(samples)
    for harmonic in range(1, rng.integers(6, 40)):
        level_db = -rng.uniform(0.3, 2.0) * harmonic + rng.normal(0, 5)
        sound += 10 ** (level_db / 20) * _sine(base_hz * harmonic * _time_s(samples) + rng.random())
    return _to_unit(sound) + 10 ** (-rng.uniform(25, 60) / 20) * _to_unit(pink(samples, rng))


def room_tone(samples, rng):
    """A quiet room: noise that falls by 4 to 12 dB per octave, a little hum, perhaps a fan's tones, slow changes."""
    slope = rng.uniform(4, 12) / 6
    corner_hz = rng.uniform(60, 400)
    sound = _to_unit(_coloured(samples, lambda hz: 1 / (1 + (hz / corner_hz) ** slope), rng))
    sound += 10 ** (-rng.uniform(5, 30) / 20) * _to_unit(hum(samples, rng))
    for _ in range(rng.integers(0, 4)):
        tone_hz = rng.uniform(80, 3000) * (1 + 0.002 * np.cumsum(rng.standard_normal(samples)) / np.sqrt(samples))
        sound += 10 ** (-rng.uniform(10, 40) / 20) * _sine(np.cumsum(tone_hz) / SAMPLE_RATE_HZ)
    return sound * _envelope(samples, 0.5, rng.uniform(0, 4), rng)


def clicks(samples, rng):
    """Clicks, knocks and key strokes: bursts of 0.1 to 40 ms, some of them with a resonance, at random or in rhythm."""
    sound = np.zeros(samples + SAMPLE_RATE_HZ // 4)
    rate_hz = 10 ** rng.uniform(-0.3, 1.1)
    count = max(1, int(samples / SAMPLE_RATE_HZ * rate_hz))
    rhythmic = rng.random() < 0.4
    times = np.arange(count) / rate_hz if rhythmic else rng.uniform(0, samples / SAMPLE_RATE_HZ, count)
    longest_ms = 10 ** rng.uniform(-0.3, 1.6)
    for time_s in times:
        decay = max(2, int(longest_ms * rng.uniform(0.1, 1) * SAMPLE_RATE_HZ / 1000 / 3))
        length = min(3 * decay, len(sound) // 8)
        burst = rng.standard_normal(length) if rng.random() < 0.7 else np.eye(1, length)[0] * 3
        if rng.random() < 0.4:
            angle = 2 * np.pi * rng.uniform(200, 5000) / SAMPLE_RATE_HZ
            burst += np.sin(angle * np.arange(length)) * rng.uniform(0.5, 3)
        start = int(time_s * SAMPLE_RATE_HZ)
        sound[start : start + length] += rng.uniform(0.2, 1) * burst * np.exp(-np.arange(length) / decay)
    return sound[:samples]


def tones(samples, rng):
    """Steady tones, dial tones, beeps and sweeps."""
    time_s, sound = _time_s(samples), np.zeros(samples)
    for _ in range(rng.integers(1, 4)):
        first_hz, last_hz = rng.uniform(150, 4000, 2)
        if rng.random() < 0.7:
            last_hz = first_hz
        period_s = rng.uniform(0.3, 4)
        phase = np.mod(time_s, period_s)
        sweep = first_hz * phase + (last_hz - first_hz) * phase**2 / (2 * period_s)
        tone = _sine(first_hz * time_s if first_hz == last_hz else sweep)
        if rng.random() < 0.5:
            tone *= np.mod(time_s, rng.uniform(0.2, 2)) < rng.uniform(0.05, 1)
        sound += rng.uniform(0.3, 1) * tone
    return sound + 1e-3 * white(samples, rng)


def engine(samples, rng):
    """A buzzing harmonic source with a slowly drifting pitch: motors, shavers, horns."""
    pitch_hz = rng.uniform(30, 400) * _envelope(samples, rng.choice([0.2, 1]), rng.uniform(0, 4), rng)
    phase = np.cumsum(pitch_hz) / SAMPLE_RATE_HZ
    sound = sum(
        10 ** (-rng.uniform(0, 15 + k) / 20) * _sine(k * phase + rng.random()) for k in range(1, rng.integers(4, 20))
    )
    return _to_unit(sound) + 10 ** (-rng.uniform(5, 40) / 20) * _to_unit(coloured(samples, rng))


def music(samples, rng):
    """Plucked or held chords with a beat: music-like, without a voice."""
    beat_s = rng.uniform(0.15, 0.7)
    length = int(beat_s * SAMPLE_RATE_HZ)
    root_hz, decay_s, harmonics = rng.uniform(80, 300), 10 ** rng.uniform(-1, 0.5), rng.integers(2, 10)
    scale = np.array([0, 2, 4, 5, 7, 9, 11, 12])
    brightness = rng.uniform(0.5, 2)
    sound = np.zeros(samples + length)
    time_s = _time_s(length)
    attack = np.minimum(1, time_s / rng.uniform(0.002, 0.05)) * np.minimum(1, (beat_s - time_s) / 0.01)
    drums = rng.random() < 0.5
    for start in range(0, samples, length):
        note = np.zeros(length)
        for _ in range(rng.integers(1, 4)):
            hz = root_hz * 2 ** ((rng.choice(scale) + 12 * rng.integers(0, 3)) / 12)
            for k in range(1, harmonics + 1):
                if k * hz < 7800:
                    note += k**-brightness * _sine(k * hz * time_s + rng.random())
        note *= attack * np.exp(-time_s / decay_s)
        if drums and rng.random() < 0.7:
            note += rng.uniform(0.2, 2) * rng.standard_normal(length) * np.exp(-time_s / rng.uniform(0.005, 0.06))
        sound[start : start + length] += note * rng.uniform(0.5, 1)
    return sound[:samples]


def dithered_silence(samples, rng):
    """An idle 16-bit recording: the last bit toggles."""
    return np.round(rng.standard_normal(samples) * rng.uniform(0.2, 0.8)) / 32768
