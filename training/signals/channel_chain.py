# SPDX-License-Identifier: Apache-2.0
"""Processing of a recording before it reaches the server: other rates by good and bad resamplers, and codecs, in
sequence. Clips of both classes share a stream, so that no condition tells the classes apart."""

import subprocess
import tempfile

import numpy as np
from scipy import fft, signal

from features.native import Resampler
from features.recipe import SAMPLE_RATE_HZ

RATES_HZ = [8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000]
RATE_SHARES = [0.07, 0.03, 0.2, 0.17, 0.19, 0.08, 0.13, 0.13]
GAP_SECONDS = 0.1  # of silence between the clips of a stream
CODEC_SHARE, SECOND_CODEC_SHARE, LAST_HOP_SHARE = 0.55, 0.2, 0.25
OPUS_RATES_HZ = [8000, 12000, 16000, 24000, 48000]
MPEG_RATES_HZ = RATES_HZ
SWR_FILTERS = [
    "aresample",
    "aresample=resampler=soxr",
    "aresample=filter_size=8:cutoff=0.8",
    "aresample=filter_size=64:cutoff=0.99",
    "aresample=linear_interp=1:filter_size=4:phase_shift=4",
]


def _by_fir(periods, beta):
    """A windowed sinc of this many periods on each side."""

    def resample(samples, rate_hz, wanted_hz):
        divisor = np.gcd(rate_hz, wanted_hz)
        up, down = wanted_hz // divisor, rate_hz // divisor
        larger = max(up, down)
        taps = signal.firwin(2 * periods * larger + 1, 1 / larger, window=("kaiser", beta))
        return signal.resample_poly(samples, up, down, window=taps)

    return resample


def _by_fourier(samples, rate_hz, wanted_hz):
    count = max(1, round(len(samples) * wanted_hz / rate_hz))
    return signal.resample(
        np.pad(samples, (0, fft.next_fast_len(len(samples)) - len(samples))),
        max(1, round(fft.next_fast_len(len(samples)) * wanted_hz / rate_hz)),
    )[:count]


def _by_lines(samples, rate_hz, wanted_hz):
    count = max(1, round(len(samples) * wanted_hz / rate_hz))
    return np.interp(np.arange(count) * rate_hz / wanted_hz, np.arange(len(samples)), samples)


def by_server(samples, rate_hz, wanted_hz):
    return Resampler(int(rate_hz), int(wanted_hz)).resample(samples)


RESAMPLERS = {
    "server": (by_server, 0.2),
    "long": (_by_fir(48, 9.0), 0.25),
    "middle": (_by_fir(12, 6.0), 0.2),
    "short": (_by_fir(3, 3.0), 0.15),
    "fourier": (_by_fourier, 0.1),
    "lines": (_by_lines, 0.1),
}


def resample(samples, rate_hz, wanted_hz, kind):
    if rate_hz == wanted_hz:
        return samples
    return RESAMPLERS[kind][0](samples, int(rate_hz), int(wanted_hz)).astype(np.float32)


def draw_resampler(rng):
    return str(rng.choice(list(RESAMPLERS), p=[share for _, share in RESAMPLERS.values()]))


def draw_codec(rng):
    """(name, encoder arguments, container, rate the encoder runs at)"""
    kbit = lambda *rates: ["-b:a", f"{rng.choice(rates)}k"]
    kinds = {
        "mp3": (0.27, ["-c:a", "libmp3lame", *kbit(24, 32, 40, 48, 64, 96, 128, 192)], "mp3", MPEG_RATES_HZ),
        "aac": (0.15, ["-c:a", "aac", *kbit(32, 48, 64, 96, 128)], "m4a", [16000, 22050, 24000, 32000, 44100, 48000]),
        "opus": (0.24, ["-c:a", "libopus", *kbit(12, 12, 16, 16, 20, 24, 32, 48, 64)], "ogg", OPUS_RATES_HZ),
        "vorbis": (
            0.08,
            ["-c:a", "libvorbis", "-q:a", f"{rng.integers(-1, 7)}"],
            "ogg",
            [16000, 22050, 24000, 44100, 48000],
        ),
        "speex": (0.03, ["-c:a", "libspeex", *kbit(8, 16, 24)], "ogg", [8000, 16000]),
        "g722": (0.03, ["-c:a", "g722"], "wav", [16000]),
        "gsm": (0.06, ["-c:a", "libgsm_ms"], "wav", [8000]),
        "mu-law": (0.04, ["-c:a", "pcm_mulaw"], "wav", [8000]),
        "a-law": (0.03, ["-c:a", "pcm_alaw"], "wav", [8000]),
        # Code-excited linear prediction, like AMR, for which ffmpeg has no encoder.
        "g723.1": (0.04, ["-c:a", "g723_1", "-b:a", "6.3k"], "wav", [8000]),
        "adpcm": (0.03, ["-c:a", "adpcm_ima_wav"], "wav", [8000, 11025, 16000, 22050]),
    }
    name = str(rng.choice(list(kinds), p=[share for share, *_ in kinds.values()]))
    _, arguments, container, rates = kinds[name]
    return name, arguments, container, int(rng.choice(rates))


def _ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-threads", "1", *map(str, arguments)], check=True)


def through_codec(samples, rate_hz, codec, swr_filter):
    """(float32 samples, their rate): encoded at the codec's rate, after ffmpeg's resampling with `swr_filter`, and
    decoded.
    """
    _, arguments, container, codec_rate_hz = codec
    with tempfile.TemporaryDirectory() as folder:
        coded = f"{folder}/coded.{container}"
        np.clip(samples, -1, 1).astype(np.float32).tofile(f"{folder}/in.f32")
        _ffmpeg(
            "-f",
            "f32le",
            "-ac",
            "1",
            "-ar",
            rate_hz,
            "-i",
            f"{folder}/in.f32",
            "-af",
            swr_filter,
            "-ar",
            codec_rate_hz,
            *arguments,
            coded,
        )
        decoded_rate_hz = 48000 if container == "ogg" and "libopus" in arguments else codec_rate_hz
        _ffmpeg("-i", coded, "-ac", "1", "-ar", decoded_rate_hz, "-f", "f32le", f"{folder}/out.f32")
        return np.fromfile(f"{folder}/out.f32", np.float32), decoded_rate_hz


def draw_chain(rng):
    """The chain of one stream; pass_through draws the earlier steps of each clip."""
    codecs = [draw_codec(rng)] if rng.random() < CODEC_SHARE else []
    if codecs and rng.random() < SECOND_CODEC_SHARE:
        codecs.append(draw_codec(rng))
    return {
        "rate_hz": int(rng.choice(RATES_HZ, p=RATE_SHARES)),
        "codecs": [(codec, str(rng.choice(SWR_FILTERS))) for codec in codecs],
        "last_hop": (int(rng.choice(RATES_HZ, p=RATE_SHARES)), draw_resampler(rng))
        if rng.random() < LAST_HOP_SHARE
        else None,
    }


def pass_through(clips, chain, rng):
    """`clips`: [(float32 samples, rate)]. Returns each at 16 kHz, with the length that it would have without the
    chain."""
    rate_hz, gap = chain["rate_hz"], np.zeros(round(GAP_SECONDS * chain["rate_hz"]), np.float32)
    parts, starts, position = [], [], 0
    for samples, own_rate_hz in clips:
        part = resample(samples, own_rate_hz, rate_hz, draw_resampler(rng))
        parts += [part, gap]
        starts.append(position / rate_hz)
        position += len(part) + len(gap)
    stream = np.concatenate(parts)
    for codec, swr_filter in chain["codecs"]:
        stream, rate_hz = through_codec(stream, rate_hz, codec, swr_filter)
    if chain["last_hop"]:
        wanted_hz, kind = chain["last_hop"]
        stream, rate_hz = resample(stream, rate_hz, wanted_hz, kind), wanted_hz
    if rate_hz != SAMPLE_RATE_HZ:
        stream = by_server(stream, rate_hz, SAMPLE_RATE_HZ)
    made = []
    for (samples, own_rate_hz), start in zip(clips, starts):
        count, first = -(-len(samples) * SAMPLE_RATE_HZ // own_rate_hz), round(start * SAMPLE_RATE_HZ)
        part = stream[first : first + count]
        made.append(np.pad(part, (0, count - len(part))))
    return made
