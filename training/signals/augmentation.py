# SPDX-License-Identifier: Apache-2.0
"""Changes that a recording may undergo before it arrives. None of them depends on the class of the clip.

Samples are float32 at 16 kHz in -1..1; every random choice comes from the numpy Generator passed in.
"""

import numpy as np
from scipy import fft, signal

from features.recipe import SAMPLE_RATE_HZ

NYQUIST_HZ = SAMPLE_RATE_HZ / 2
COARSE_HZ = np.linspace(0, NYQUIST_HZ, 400)  # points of smooth curves before interpolation
NOISE_SNR_DB = (5, 45)
WHITE_NOISE_SHARE = 0.4  # of the noises in augment()


def _smooth_curve_db(hz, spread_db, rng):
    """A random curve over log frequency: microphone, equaliser, or the colour of a noise."""
    knots_hz = np.geomspace(60, NYQUIST_HZ, rng.integers(4, 12))
    knots_db = rng.normal(0, spread_db, len(knots_hz)) + rng.normal(0, spread_db / 2) * np.linspace(
        -1, 1, len(knots_hz)
    )
    return np.interp(np.log(np.maximum(hz, 30)), np.log(knots_hz), knots_db)


def _band_limit_db(hz, rng):
    """Low-pass at 3.4..8 kHz and high-pass at 20..300 Hz, each with its own slope."""
    gain_db = np.zeros_like(hz)
    if rng.random() < 0.6:
        cutoff_hz = rng.choice([3400, 4000, 5512, 7000, rng.uniform(3000, 8000)])
        gain_db -= np.clip((hz - cutoff_hz) / rng.uniform(20, 600), 0, 1) * rng.uniform(30, 100)
    if rng.random() < 0.6:
        octaves_below = np.log2(rng.uniform(20, 300) / np.maximum(hz, 1))
        gain_db -= np.clip(octaves_below * rng.choice([6, 12, 24, 48]), 0, 80)
    return gain_db


def high_pass(samples, rng):
    """A recorder's or player's rumble filter: Butterworth of order 1 to 8 at 25 to 300 Hz; magnitude only."""
    size = fft.next_fast_len(len(samples) + SAMPLE_RATE_HZ // 4, real=True)
    hz = np.maximum(np.linspace(0, NYQUIST_HZ, size // 2 + 1), 0.1)
    cutoff_hz, order = np.exp(rng.uniform(*np.log([25, 300]))), rng.integers(1, 9)
    gain = (1 / np.sqrt(1 + (cutoff_hz / hz) ** (2 * order))).astype(np.float32)
    return fft.irfft(fft.rfft(samples.astype(np.float32), size) * gain, size)[: len(samples)].astype(np.float32)


def _with_lines(samples, bins, heights, level_db, rng):
    """Adds a tone in each of these bins of the spectrum, with a total level drawn from `level_db`, relative to that of
    the samples."""
    spectrum = np.zeros(len(samples) // 2 + 1, np.complex64)
    spectrum[bins] = heights * np.exp(2j * np.pi * rng.random(len(bins)))
    lines = fft.irfft(spectrum, len(samples))
    level = np.sqrt(np.mean(samples**2)) / (np.sqrt(np.mean(lines**2)) + 1e-9) * 10 ** (rng.uniform(*level_db) / 20)
    return (samples + level * lines).astype(np.float32)


def mains_hum(samples, rng, level_db=(-50, -10)):
    """Adds hum of about 50 or 60 Hz with up to 20 harmonics, at `level_db` relative to the samples."""
    lowest = round(rng.choice([50, 60]) * rng.uniform(0.998, 1.002) * len(samples) / SAMPLE_RATE_HZ)
    bins = lowest * np.arange(1, rng.integers(2, 22))
    heights = rng.uniform(0, 1, len(bins)) * np.arange(1, len(bins) + 1) ** -rng.uniform(0, 2)
    return _with_lines(samples, bins, heights, level_db, rng)


def add_tones(samples, rng, level_db=(-50, -15)):
    """Adds one to four steady tones of 80 to 7600 Hz, as from power supplies, screens and fans, at `level_db` relative
    to the samples."""
    hz = np.exp(rng.uniform(*np.log([80, 7600]), rng.integers(1, 5)))
    bins = np.unique(np.rint(hz * len(samples) / SAMPLE_RATE_HZ).astype(int))
    return _with_lines(samples, bins, rng.uniform(0, 1, len(bins)), level_db, rng)


def _room_response(rng):
    """Direct sound, a few early reflections, and a decaying tail of coloured noise."""
    t60_s = rng.uniform(0.08, 0.9)
    length = int(min(t60_s, 0.5) * SAMPLE_RATE_HZ)
    decay = 10 ** (-3 * np.arange(length) / (t60_s * SAMPLE_RATE_HZ))
    tail = rng.standard_normal(length) * decay
    tail = signal.lfilter([1], [1, -rng.uniform(0, 0.7)], tail)
    tail[: int(rng.uniform(0.001, 0.02) * SAMPLE_RATE_HZ)] = 0
    for _ in range(rng.integers(0, 6)):
        tail[rng.integers(length // 4)] += rng.normal(0, 1)
    direct_to_reverberant = 10 ** (rng.uniform(-3, 18) / 20)
    response = tail / (np.linalg.norm(tail) + 1e-9)
    response[0] = direct_to_reverberant
    return (response / np.linalg.norm(response)).astype(np.float32)


def _as_loud(changed, samples):
    """`changed` at the level of `samples`."""
    return (changed * (np.linalg.norm(samples) / (np.linalg.norm(changed) + 1e-9))).astype(np.float32)


def _through(response, samples):
    """Convolved, with the same length and level as before."""
    size = fft.next_fast_len(len(samples) + len(response), real=True)
    return _as_loud(fft.irfft(fft.rfft(samples, size) * fft.rfft(response, size), size)[: len(samples)], samples)


def in_room(samples, rng):
    """The samples as heard by a microphone in a random room."""
    return _through(_room_response(rng), samples)


def add_echoes(samples, rng):
    """One to four echoes of 0.5 to 120 ms without a tail, as from a desk, a corridor or a line."""
    delays_s = np.exp(rng.uniform(*np.log([0.0005, 0.12]), rng.integers(1, 5)))
    places = np.rint(delays_s * SAMPLE_RATE_HZ).astype(int)
    response = np.zeros(places.max() + 1, np.float32)
    response[places] = 10 ** (rng.uniform(-20, -1, len(places)) / 20) * rng.choice([-1, 1], len(places))
    response[0] = 1
    return _through(response, samples)


def equalise_and_add_noise(samples, rng, spread_db=5, snr_db=(15, 35)):
    """A random equaliser and coloured noise on the whole recording, like another microphone and room, for
    evaluation."""
    size = fft.next_fast_len(len(samples), real=True)
    hz = np.linspace(0, NYQUIST_HZ, size // 2 + 1)
    speech = fft.rfft(samples, size) * 10 ** (_smooth_curve_db(hz, spread_db, rng) / 20)
    noise = fft.rfft(rng.standard_normal(size)) * 10 ** (_smooth_curve_db(hz, spread_db, rng) / 20)
    noise *= np.linalg.norm(speech) / np.linalg.norm(noise) * 10 ** (-rng.uniform(*snr_db) / 20)
    mixed = fft.irfft(speech + noise, size)[: len(samples)]
    return (mixed * (0.7 / (np.abs(mixed).max() + 1e-9))).astype(np.float32)


def _noise_colour(hz, rng):
    """Amplitude over frequency. Coloured noise alone omits the hiss of cheap devices, which is flat."""
    if rng.random() < WHITE_NOISE_SHARE:
        return np.ones_like(hz)
    return 10 ** (_smooth_curve_db(hz, 5, rng) / 20) * np.maximum(hz, 60) ** -rng.uniform(0, 1.2)


def _noise_beside(spectrum, rng):
    """Spectrum of a noise of a random colour, NOISE_SNR_DB below the given one."""
    hz = np.linspace(0, NYQUIST_HZ, len(spectrum), dtype=np.float32)
    colour = _noise_colour(COARSE_HZ, rng)
    noise = rng.standard_normal((len(spectrum), 2), dtype=np.float32).view(np.complex64)[:, 0]
    noise *= np.interp(hz, COARSE_HZ, colour).astype(np.float32)
    wanted = np.linalg.norm(spectrum) * 10 ** (-rng.uniform(*NOISE_SNR_DB) / 20)
    return noise * np.float32(wanted / np.linalg.norm(noise))


def add_noise(samples, rng):
    """Adds noise of a random colour, sometimes white, at NOISE_SNR_DB."""
    spectrum = fft.rfft(samples.astype(np.float32))
    return fft.irfft(spectrum + _noise_beside(spectrum, rng), len(samples)).astype(np.float32)


def _change_speed(samples, rng):
    spectrum = fft.rfft(samples)
    count = int(len(samples) * rng.uniform(0.9, 1.1))
    return (
        fft.irfft(spectrum, count)[: len(samples)]
        if count >= len(samples)
        else np.pad(fft.irfft(spectrum[: count // 2 + 1], count), (0, len(samples) - count), mode="wrap")
    )


def _mu_law(samples, rng):
    peak = np.abs(samples).max() + 1e-9
    levels = 255 if rng.random() < 0.7 else 127
    x = samples / peak * rng.uniform(0.2, 1)
    coded = np.round(np.sign(x) * np.log1p(255 * np.abs(x)) / np.log(256) * levels) / levels
    return np.sign(coded) * np.expm1(np.abs(coded) * np.log(256)) / 255


def _through_lower_rate(samples, rng):
    """Down and up again with a poor (short or aliasing) filter, as in cheap software."""
    ratio = rng.choice([8000, 11025, 12000, 14000]) / SAMPLE_RATE_HZ
    low = np.interp(np.arange(0, len(samples) - 1, 1 / ratio), np.arange(len(samples)), samples)
    return np.interp(np.arange(len(samples)) * ratio, np.arange(len(low)), low)


def _telephone(samples, rng):
    """300..3400 Hz at 8 kHz through mu-law, like a call after the network."""
    size = fft.next_fast_len(len(samples), real=True)
    hz = np.linspace(0, NYQUIST_HZ, size // 2 + 1)
    gain_db = -np.clip((hz - rng.uniform(3300, 3950)) / rng.uniform(20, 400), 0, 1) * 100
    if rng.random() < 0.7:
        gain_db -= np.clip(np.log2(rng.uniform(100, 330) / np.maximum(hz, 1)) * rng.choice([12, 24, 48]), 0, 60)
    narrow = fft.irfft(fft.rfft(samples, size) * 10 ** (gain_db / 20), size)[: len(samples) : 2]
    coded = _mu_law(narrow, rng) if rng.random() < 0.8 else narrow
    wide = fft.rfft(coded, size // 2)
    return 2 * fft.irfft(np.pad(wide, (0, size // 2 + 1 - len(wide))), size)[: len(samples)]


def augment(samples, rng, may_change_speed=True):
    """One random history for a crop, with the same length. A third of the crops change only in level.
    Another speed makes another voice, so the speaker model forbids it here and counts it as another speaker."""
    count = len(samples)
    if rng.random() < 0.65:
        if rng.random() < 0.2 and may_change_speed:
            samples = _change_speed(samples, rng)
        size = fft.next_fast_len(count + SAMPLE_RATE_HZ // 2, real=True)
        spectrum = fft.rfft(samples.astype(np.float32), size)
        hz = np.linspace(0, NYQUIST_HZ, len(spectrum), dtype=np.float32)
        if rng.random() < 0.2:
            spectrum *= fft.rfft(_room_response(rng), size)
        if rng.random() < 0.4:
            # The noise fills the padded size, the speech only `count` samples of it.
            spectrum += np.float32(np.sqrt(size / count)) * _noise_beside(spectrum, rng)
        channel_db = np.zeros_like(COARSE_HZ)
        if rng.random() < 0.7:
            channel_db += _smooth_curve_db(COARSE_HZ, rng.uniform(1, 7), rng)
        if rng.random() < 0.4:
            channel_db += _band_limit_db(COARSE_HZ, rng)
        spectrum *= np.interp(hz, COARSE_HZ, 10 ** (channel_db / 20)).astype(np.float32)
        samples = fft.irfft(spectrum, size)[:count]
        if rng.random() < 0.08:
            samples = _through_lower_rate(samples, rng)
        if rng.random() < 0.08:
            limit = np.quantile(np.abs(samples), rng.uniform(0.95, 0.9995)) + 1e-6
            samples = np.clip(samples, -limit, limit)
        if rng.random() < 0.12:
            samples = _mu_law(samples, rng)
    if rng.random() < 0.1:
        samples = _telephone(samples, rng)
    peak_db = rng.uniform(-1, 0) if rng.random() < 0.3 else rng.uniform(-36, -1)
    samples = samples * (10 ** (peak_db / 20) / (np.abs(samples).max() + 1e-6))
    if rng.random() < 0.6:
        samples = np.round(samples * 32768) / 32768
    return samples.astype(np.float32)


CHANGES = {  # keyed by their names in commands
    "room": in_room,
    "echoes": add_echoes,
    "high-pass": high_pass,
    "noise": add_noise,
    "hum": mains_hum,
    "tones": add_tones,
}
