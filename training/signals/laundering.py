# SPDX-License-Identifier: Apache-2.0
"""Processing that keeps a recording's words: rooms, filters, noises, devices, studios, lossy lines. Both classes go
through the same, so that none of it tells them apart.

Samples are float32 at 16 kHz; every random choice comes from the numpy Generator passed in.
"""

import numpy as np
from scipy import fft, signal

from features.recipe import SAMPLE_RATE_HZ
from signals.augmentation import (
    COARSE_HZ,
    NYQUIST_HZ,
    _change_speed,
    _room_response,
    _smooth_curve_db,
    _telephone,
    _through,
    _through_lower_rate,
    add_echoes,
    change_pitch_or_tempo,
    compress,
    mains_hum,
    saturate,
)

SPEED_OF_SOUND = 343.0
FRAME = 320  # frame of frame-wise processing, 20 ms


def _times_curve(samples, gain):
    """Through a zero-phase filter; `gain` maps frequencies in Hz to factors."""
    size = fft.next_fast_len(len(samples) + SAMPLE_RATE_HZ // 4, real=True)
    hz = np.linspace(0, NYQUIST_HZ, size // 2 + 1, dtype=np.float32)
    return fft.irfft(fft.rfft(samples.astype(np.float32), size) * gain(hz), size)[: len(samples)].astype(np.float32)


def _filtered(samples, rng, kind, lowest_hz, highest_hz):
    """A Butterworth filter of order 1 to 8; half with its phase, half without, like zero-phase equalisers."""
    cutoff_hz = np.exp(rng.uniform(*np.log([lowest_hz, highest_hz])))
    order = int(rng.integers(1, 9))
    if rng.random() < 0.5:
        sections = signal.butter(order, min(cutoff_hz, 7900), kind, fs=SAMPLE_RATE_HZ, output="sos")
        return signal.sosfilt(sections, samples).astype(np.float32)
    below = (
        (lambda hz: np.maximum(hz, 0.1) / cutoff_hz)
        if kind == "lowpass"
        else lambda hz: cutoff_hz / np.maximum(hz, 0.1)
    )
    return _times_curve(samples, lambda hz: (1 / np.sqrt(1 + below(hz) ** (2 * order))).astype(np.float32))


def high_pass(samples, rng):
    return _filtered(samples, rng, "highpass", 20, 400)


def low_pass(samples, rng):
    return _filtered(samples, rng, "lowpass", 2000, 8000)


def equalise(samples, rng):
    curve_db = _smooth_curve_db(COARSE_HZ, rng.uniform(1, 8), rng)
    return _times_curve(samples, lambda hz: np.interp(hz, COARSE_HZ, 10 ** (curve_db / 20)).astype(np.float32))


def _image_response(rng):
    """A click in an empty box of 15 to 200 m3 by mirror images, up to 0.4 s."""
    size_m = rng.uniform([2.2, 2.0, 2.2], [8, 7, 3.6])
    source, microphone = rng.uniform(0.15, 0.85, (2, 3)) * size_m
    if rng.random() < 0.5:  # close to the mouth
        microphone = np.clip(source + rng.normal(0, 0.35, 3), 0.05, size_m - 0.05)
    reflection = rng.uniform(0.4, 0.95)
    reach = 0.4 * SPEED_OF_SOUND
    counts = np.minimum(np.ceil(reach / (2 * size_m)).astype(int), 8)
    steps = [np.arange(-count, count + 1) for count in counts]
    grid = np.stack(np.meshgrid(*steps, indexing="ij"), -1).reshape(-1, 3)
    length = int(0.4 * SAMPLE_RATE_HZ)
    response = np.zeros(length + 1, np.float64)
    for mirrored in np.stack(np.meshgrid(*[[0, 1]] * 3, indexing="ij"), -1).reshape(-1, 3):
        places = 2 * grid * size_m + (1 - 2 * mirrored) * source
        hits = np.abs(grid - mirrored).sum(1) + np.abs(grid).sum(1)
        distance = np.maximum(np.linalg.norm(places - microphone, axis=1), 0.1)
        arrival = distance / SPEED_OF_SOUND * SAMPLE_RATE_HZ
        is_heard = arrival < length - 1
        whole = arrival[is_heard].astype(int)
        share = arrival[is_heard] - whole
        strength = reflection ** hits[is_heard] / distance[is_heard]
        np.add.at(response, whole, strength * (1 - share))
        np.add.at(response, whole + 1, strength * share)
    # Walls and air absorb more of the high frequencies.
    if rng.random() < 0.7:
        response = signal.lfilter([1 - (damped := rng.uniform(0, 0.5))], [1, -damped], response)
    return np.trim_zeros(response.astype(np.float32), "f")[:length]


def in_room(samples, rng):
    return _through(_image_response(rng) if rng.random() < 0.5 else _room_response(rng), samples)


def _mixed(samples, other, rng, snr_db):
    level = np.linalg.norm(samples) / (np.linalg.norm(other) + 1e-9) * 10 ** (-rng.uniform(*snr_db) / 20)
    return (samples + level * other).astype(np.float32)


def add_noise(samples, rng):
    """White, pink or of a random colour."""
    kind, white = rng.random(), rng.standard_normal(len(samples)).astype(np.float32)
    if kind < 0.35:
        noise = white
    elif kind < 0.6:
        noise = _times_curve(white, lambda hz: np.maximum(hz, 40) ** np.float32(-0.5))
    else:
        noise = equalise(_times_curve(white, lambda hz: np.maximum(hz, 40) ** np.float32(-rng.uniform(0, 1))), rng)
    if rng.random() < 0.3:  # intermittent noise
        knots = rng.uniform(0.1, 1, 8)
        noise = noise * np.interp(np.linspace(0, 7, len(noise)), np.arange(8), knots).astype(np.float32)
    return _mixed(samples, noise, rng, (5, 40))


def add_music(samples, rng):
    """Chords of harmonic tones that decay, over a beat: music-like for a detector."""
    music, at = np.zeros(len(samples), np.float32), 0
    root_hz = rng.uniform(55, 220)
    while at < len(samples):
        count = int(rng.choice([0.25, 0.5, 1.0]) * rng.uniform(0.9, 1.1) * SAMPLE_RATE_HZ)
        count = min(count, len(samples) - at)
        seconds = np.arange(count, dtype=np.float32) / SAMPLE_RATE_HZ
        chord = np.zeros(count, np.float32)
        for step in rng.choice([0, 3, 4, 5, 7, 9, 12, 16, 19], rng.integers(1, 5), replace=False):
            tone_hz = root_hz * 2 ** (step / 12)
            for harmonic in range(1, int(rng.integers(2, 9))):
                chord += np.sin(
                    2 * np.pi * harmonic * tone_hz * seconds + rng.uniform(0, 6.28)
                ) / harmonic ** rng.uniform(0.7, 2)
        music[at : at + count] += chord * np.exp(-seconds * rng.uniform(0, 6))
        if rng.random() < 0.5:
            hit = min(count, 2000)
            music[at : at + hit] += (
                2 * rng.standard_normal(hit).astype(np.float32) * np.exp(-np.arange(hit) / 300).astype(np.float32)
            )
        at += max(count, 1)
    return _mixed(samples, music, rng, (5, 30))


def lose_packets(samples, rng):
    """Lost packets of 10 to 60 ms, one by one or in rows. Replaces them by silence, the last packet, or a fade of
    it."""
    packet = int(rng.choice([160, 320, 480, 640, 960]))
    lost, kept = rng.uniform(0.01, 0.12), samples.copy()
    stays = rng.uniform(0.0, 0.6)
    gone, how = False, int(rng.integers(3))
    for first in range(packet, len(samples) - packet, packet):
        gone = rng.random() < (stays if gone else lost)
        if gone:
            place = slice(first, first + packet)
            before = kept[first - packet : first]
            kept[place] = (0, 0.8 * before, before[::-1] * np.linspace(1, 0.5, packet, dtype=np.float32))[how]
    return kept


def _frame_levels(samples):
    frames = len(samples) // FRAME
    return np.sqrt(np.mean(samples[: frames * FRAME].reshape(frames, FRAME) ** 2, 1) + 1e-12)


def gate(samples, rng):
    """Attenuates sound below a threshold by 6 to 60 dB: noise gates and expanders of studios and calls."""
    levels = _frame_levels(samples)
    if len(levels) < 4:
        return samples
    threshold = np.quantile(levels, 0.95) * 10 ** (-rng.uniform(15, 40) / 20)
    gains = np.where(levels > threshold, 1.0, 10 ** (-rng.uniform(6, 60) / 20))
    gains = np.maximum(gains, np.convolve(gains, np.ones(int(rng.integers(1, 8))), "same") / 8)  # hold
    places = (np.arange(len(gains)) + 0.5) * FRAME
    return (samples * np.interp(np.arange(len(samples)), places, gains)).astype(np.float32)


def cut_pauses(samples, rng):
    """Shortens pauses to 20 to 120 ms, as editors do; the sound is repeated to its former length."""
    levels = _frame_levels(samples)
    if len(levels) < 10:
        return samples
    is_loud = levels > np.quantile(levels, 0.95) * 10 ** (-rng.uniform(25, 40) / 20)
    longest, run, kept = int(rng.integers(1, 7)), 0, []
    for frame, loud in enumerate(is_loud):
        run = 0 if loud else run + 1
        if run <= longest:
            kept.append(samples[frame * FRAME : (frame + 1) * FRAME])
    made = np.concatenate(kept) if kept else samples
    return np.resize(made, len(samples)).astype(np.float32)


def denoise(samples, rng):
    """Spectral subtraction against the quietest frames, as in calls and editors without a network."""
    size = int(rng.choice([256, 512, 1024]))
    _, _, spectrum = signal.stft(samples, SAMPLE_RATE_HZ, nperseg=size, noverlap=size * 3 // 4)
    power = np.abs(spectrum) ** 2
    floor = np.quantile(power, rng.uniform(0.05, 0.3), axis=1, keepdims=True) * rng.uniform(1, 4)
    gain = np.maximum(1 - floor / (power + 1e-12), 10 ** (-rng.uniform(6, 30) / 10))
    if rng.random() < 0.5:
        gain = np.sqrt(gain)
    _, made = signal.istft(spectrum * gain, SAMPLE_RATE_HZ, nperseg=size, noverlap=size * 3 // 4)
    return np.resize(made, len(samples)).astype(np.float32)


def enhance(samples, rng):
    """Processing of studio speech without a generator: a high-pass, an equaliser, a compressor, a gate."""
    for change in (high_pass, equalise, compress, gate):
        if rng.random() < 0.6:
            samples = change(samples, rng)
    return samples


def cut(samples, rng):
    """A piece of 0.8 to 2 s, repeated, as the server fills a window with it."""
    count = min(len(samples), int(rng.uniform(0.8, 2) * SAMPLE_RATE_HZ))
    first = int(rng.integers(len(samples) - count + 1))
    return np.resize(samples[first : first + count], len(samples))


def rough_rate(samples, rng):
    return np.resize(_through_lower_rate(samples, rng), len(samples)).astype(np.float32)


def telephone(samples, rng):
    return np.resize(_telephone(samples, rng), len(samples)).astype(np.float32)


def speed(samples, rng):
    return np.resize(_change_speed(samples, rng), len(samples)).astype(np.float32)


LAUNDERING = {  # and their relative frequencies
    in_room: 3.0,
    add_echoes: 1.0,
    high_pass: 1.5,
    low_pass: 1.0,
    equalise: 1.5,
    add_noise: 2.0,
    add_music: 0.7,
    telephone: 1.0,
    lose_packets: 0.6,
    compress: 1.0,
    saturate: 0.6,
    gate: 0.7,
    denoise: 0.7,
    enhance: 1.0,
    cut_pauses: 0.6,
    cut: 0.8,
    speed: 0.6,
    change_pitch_or_tempo: 0.5,
    mains_hum: 0.5,
    rough_rate: 0.5,
}
_SHARES = np.array(list(LAUNDERING.values())) / sum(LAUNDERING.values())
COUNTS, COUNT_SHARES = [0, 1, 2, 3], [0.1, 0.5, 0.25, 0.15]


def launder(samples, rng, babble=None):
    """Some of LAUNDERING, in sequence; `babble`: other voices to mix in."""
    if babble is not None and rng.random() < 0.06:
        samples = _mixed(samples, np.resize(babble, len(samples)), rng, (8, 30))
    count = int(rng.choice(COUNTS, p=COUNT_SHARES))
    for index in rng.choice(len(_SHARES), count, replace=False, p=_SHARES):
        samples = list(LAUNDERING)[index](samples, rng)
    return samples.astype(np.float32)
