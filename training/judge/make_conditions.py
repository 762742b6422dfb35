# SPDX-License-Identifier: Apache-2.0
"""Write held-out clips as files, each as it was published and through every condition, with a list for
`veravox evaluate`.

    python3 -m judge.make_conditions --list JUDGE/list.csv --out FOLDER [--part all] [--codecs | --processing]
        [--clips 400] [--jobs 2]

`JUDGE` is made by `judge.originals files`; only its part `judging`, or the part in --part, is used. Each class gives
half of the clips, and systems and sources take turns, so that large ones do not crowd out the rest. The list's columns
are those of JUDGE/list.csv, `condition`, and `clip`, which is the same in all conditions. --codecs makes another set:
clean, and the codecs that the server decodes at several bit rates each, for judge.calibrate_codecs. --processing:
clean, and processing by studios, players and apps.
"""

import argparse
import tempfile
import wave
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from data.originals_cache import read_table, write_table
from data.prepare_corpus import ffmpeg
from judge.figures import group_of

BATCH = 40
LOWEST_HZ, HEARD_BELOW_HZ = 20, 8000
SOUND_M_PER_S = 343
ROOM_M = 0.6 * SOUND_M_PER_S  # distance after which an echo is negligible
PCM = ["-c:a", "pcm_s16le"]
ALL_PARTS = "all"


def as_it_is(samples, rate_hz, rng):
    return samples


def quieter(samples, rate_hz, rng):
    return samples * 10**-1.5


def after_silence(samples, rate_hz, rng):
    return np.concatenate([np.zeros(rate_hz // 2), samples])


def not_clipped(samples):
    return samples / max(1, np.abs(samples).max())


def noisy(snr_db, slope=0.0):
    """Noise whose power falls with the frequency to the power of `slope`: 0 is white, 1 pink. The ratio refers to
    frequencies below 8 kHz, which is all that a detector hears."""

    def add_noise(samples, rate_hz, rng):
        speech, noise = np.fft.rfft(samples), np.fft.rfft(rng.standard_normal(len(samples)))
        hz = np.fft.rfftfreq(len(samples), 1 / rate_hz)
        noise *= np.maximum(hz, LOWEST_HZ) ** (-slope / 2)
        heard = hz <= HEARD_BELOW_HZ
        noise *= np.linalg.norm(speech[heard]) / np.linalg.norm(noise[heard]) * 10 ** (-snr_db / 20)
        return not_clipped(np.fft.irfft(speech + noise, len(samples)))

    return add_noise


def room_response(rate_hz, rng):
    """Response of a microphone to a click mostly 0.5 to 2.5 m away, by the mirror images of an empty room of 20 to 150
    cubic metres whose walls reflect 80 to 92 % of the pressure; the direct sound comes first."""
    size = rng.uniform([3, 3, 2.4], [8, 6, 3.2])
    reflected = rng.uniform(0.8, 0.92)
    microphone = rng.uniform(0.5, size - 0.5)
    turn = rng.standard_normal(3)
    source = np.clip(microphone + rng.uniform(0.5, 2.5) * turn / np.linalg.norm(turn), 0.3, size - 0.3)
    squares, walls = 0, 0
    for axis in range(3):
        furthest = int(np.ceil(ROOM_M / 2 / size[axis]))
        order = np.arange(-furthest, furthest + 1)
        places = np.concatenate([2 * order * size[axis] + source[axis], 2 * order * size[axis] - source[axis]])
        shape = [-1 if other == axis else 1 for other in range(3)]
        squares = squares + ((places - microphone[axis]) ** 2).reshape(shape)
        walls = walls + np.concatenate([2 * np.abs(order), np.abs(order - 1) + np.abs(order)]).reshape(shape)
    metres, walls = np.sqrt(squares).ravel(), walls.ravel()
    heard = metres < ROOM_M
    metres, walls = metres[heard], walls[heard]
    loudness = reflected**walls / metres
    # Slightly uneven walls: otherwise echoes come at regular intervals and sound metallic.
    metres[walls > 0] += rng.uniform(-0.08, 0.08, np.count_nonzero(walls))
    places = np.rint((metres - metres[walls == 0]) / SOUND_M_PER_S * rate_hz).astype(int)
    late = places >= 0
    return np.bincount(places[late], loudness[late])


def in_room(samples, rate_hz, rng):
    response = room_response(rate_hz, rng)
    size = len(samples) + len(response)
    heard = np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(response, size), size)[: len(samples)]
    return heard / np.abs(heard).max() * np.abs(samples).max()


def humming(snr_db):
    """Mains hum of 50 Hz with ten harmonics, each weaker than the one below."""

    def add_hum(samples, rate_hz, rng):
        turns = 50 * np.arange(len(samples)) / rate_hz
        hum = sum(np.sin(2 * np.pi * (order * turns + rng.random())) / order for order in range(1, 12))
        hum *= np.linalg.norm(samples) / np.linalg.norm(hum) * 10 ** (-snr_db / 20)
        return not_clipped(samples + hum)

    return add_hum


def filtered(*filters):
    """Through filters of ffmpeg."""
    return as_it_is, [*PCM, "-af", ",".join(filters)], "wav"


def high_passed(hz, sections):
    """Butterworth sections of 12 dB per octave each."""
    return filtered(*[f"highpass=f={hz}:poles=2"] * sections)


def coded(container, rate_hz, *arguments):
    return as_it_is, ["-c:a", *arguments, "-ar", rate_hz], container


CHANGES_NOTHING = {
    "flac": (as_it_is, ["-c:a", "flac"], "flac"),
    "30 dB quieter": (quieter, ["-c:a", "pcm_s24le"], "wav"),
    "0.5 s of silence before": (after_silence, PCM, "wav"),
}
# Code-excited linear prediction, like AMR, for which ffmpeg has no encoder. The server cannot decode it: such calls
# arrive as decoded recordings.
DECODED_BEFORE = "g723.1 6.3 kbit/s"
CONDITIONS = {  # name: (change of the samples, encoder arguments, container)
    "clean": (as_it_is, PCM, "wav"),
    **CHANGES_NOTHING,
    "mp3 32 kbit/s": coded("mp3", 22050, "libmp3lame", "-b:a", "32k"),
    "mp3 96 kbit/s": coded("mp3", 44100, "libmp3lame", "-b:a", "96k"),
    "aac 48 kbit/s": coded("m4a", 44100, "aac", "-b:a", "48k"),
    "opus 16 kbit/s": coded("ogg", 16000, "libopus", "-b:a", "16k"),
    "opus 32 kbit/s": coded("ogg", 48000, "libopus", "-b:a", "32k"),
    "vorbis q1": coded("ogg", 44100, "libvorbis", "-q:a", "1"),
    "g.711 mu-law": coded("wav", 8000, "pcm_mulaw"),
    "g.711 a-law": coded("wav", 8000, "pcm_alaw"),
    "gsm": coded("wav", 8000, "libgsm_ms"),
    DECODED_BEFORE: coded("wav", 8000, "g723_1", "-b:a", "6.3k"),
    "noise 15 dB": (noisy(15), PCM, "wav"),
    "noise 10 dB": (noisy(10), PCM, "wav"),
    "pink noise 15 dB": (noisy(15, slope=1.0), PCM, "wav"),
    "room": (in_room, PCM, "wav"),
    "hum 20 dB": (humming(20), PCM, "wav"),
    "high-pass 80 Hz": high_passed(80, sections=1),
    "high-pass 250 Hz": high_passed(250, sections=2),
    **{
        f"rate {rate_hz / 1000:g} kHz": coded("wav", rate_hz, "pcm_s16le")
        for rate_hz in (8000, 16000, 22050, 24000, 44100, 48000)
    },
}
# Omits MP2, AC-3 and E-AC-3, which the server also decodes: few speech recordings use them.
CODECS = {
    "clean": CONDITIONS["clean"],
    **{
        f"opus {kbit} kbit/s": coded("ogg", 16000 if kbit <= 16 else 48000, "libopus", "-b:a", f"{kbit}k")
        for kbit in (12, 16, 24, 32, 48, 64, 96)
    },
    **{
        f"mp3 {kbit} kbit/s": coded("mp3", 22050 if kbit <= 48 else 44100, "libmp3lame", "-b:a", f"{kbit}k")
        for kbit in (32, 48, 64, 96, 128)
    },
    **{
        f"aac {kbit} kbit/s": coded("m4a", 22050 if kbit <= 32 else 44100, "aac", "-b:a", f"{kbit}k")
        for kbit in (24, 32, 48, 64, 96, 128)
    },
    **{f"vorbis q{quality}": coded("ogg", 44100, "libvorbis", "-q:a", f"{quality}") for quality in (0, 1, 4, 6)},
    "g.711 mu-law": CONDITIONS["g.711 mu-law"],
    "g.711 a-law": CONDITIONS["g.711 a-law"],
    "gsm": CONDITIONS["gsm"],
    "adpcm ima 8 kHz": coded("wav", 8000, "adpcm_ima_wav"),
    "adpcm ima 16 kHz": coded("wav", 16000, "adpcm_ima_wav"),
    "adpcm ms 8 kHz": coded("wav", 8000, "adpcm_ms"),
    "adpcm ms 16 kHz": coded("wav", 16000, "adpcm_ms"),
}
PROCESSING = {
    "clean": CONDITIONS["clean"],
    "compressor": filtered("acompressor=threshold=-24dB:ratio=4:attack=5:release=120:makeup=4"),
    "limiter after 12 dB": filtered("volume=12dB", "alimiter=limit=0.9"),
    "clipping after 12 dB": filtered("volume=12dB", "aformat=s16"),
    "saturation": filtered("volume=9dB", "asoftclip=type=tanh"),
    "levelling": filtered("dynaudnorm=f=150:g=5"),
    "de-esser": filtered("deesser=i=0.7"),
    "podcast chain": filtered(
        "highpass=f=80",
        "acompressor=threshold=-20dB:ratio=3:attack=5:release=100:makeup=3",
        "deesser=i=0.4",
        "dynaudnorm=f=150:g=5",
    ),
    "noise gate": filtered("agate=threshold=0.02:ratio=9:attack=5:release=150"),
    "spectral denoiser": filtered("afftdn=nr=12:nf=-40"),
    "non-local denoiser": filtered("anlmdn=s=0.0005"),
    "pauses cut": filtered("silenceremove=stop_periods=-1:stop_duration=0.15:stop_threshold=-40dB"),
    "10 % faster": filtered("atempo=1.1"),
    "10 % slower": filtered("atempo=0.9"),
    "a semitone higher": filtered("rubberband=pitch=1.06"),
    "treble +9 dB": filtered("treble=g=9"),
    "low-pass 6 kHz": filtered("lowpass=f=6000:poles=2"),
    "echo after 10 ms": filtered("aecho=0.8:0.7:10:0.4"),
    "chorus": filtered("chorus=0.7:0.9:55:0.4:0.25:2"),
    "phaser": filtered("aphaser=in_gain=0.7"),
    "vibrato": filtered("vibrato=f=5:d=0.05"),
}


def read_wave(path):
    """(float samples in -1..1, rate)"""
    with wave.open(str(path), "rb") as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
        return samples / 32768, file.getframerate()


def write_batch(clips, arguments, paths):
    """(samples, rate) as coded files, by one ffmpeg process: starting it costs more than coding a clip."""
    with tempfile.TemporaryDirectory() as folder:
        inputs, outputs = [], []
        for index, ((samples, rate_hz), path) in enumerate(zip(clips, paths)):
            samples.astype(np.float32).tofile(f"{folder}/{index}")
            inputs += ["-f", "f32le", "-ac", "1", "-ar", rate_hz, "-i", f"{folder}/{index}"]
            outputs += ["-map", f"{index}:a", *arguments, path]
        ffmpeg(*inputs, *outputs)


def decode_batch(paths):
    """Decodes coded files in place."""
    inputs, outputs = [], []
    for index, path in enumerate(paths):
        renamed = path.rename(path.with_suffix(".coded.wav"))
        inputs += ["-i", renamed]
        outputs += ["-map", f"{index}:a", *PCM, path]
    ffmpeg(*inputs, *outputs)
    for path in paths:
        path.with_suffix(".coded.wav").unlink()


def in_turns(clips, count, rng):
    """At most `count` clips: first one of each system or source, then a second of each, and so on."""
    groups, turns = {}, []
    for place in rng.permutation(len(clips)):
        groups.setdefault(group_of(clips[place]), []).append(place)
    for members in groups.values():
        turns += list(enumerate(members))
    return [clips[place] for place in sorted(place for _, place in sorted(turns, key=lambda turn: turn[0])[:count])]


def chosen_clips(rows, count, part="judging"):
    rng = np.random.default_rng(1)
    of_part = [row for row in rows if part in (row["part"], ALL_PARTS)]
    classes = [[row for row in of_part if row["label"] == label] for label in ("bonafide", "spoof")]
    return [row for clips in classes for row in in_turns(clips, count // 2, rng)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--part", choices=["judging", "calibration", ALL_PARTS], default="judging")
    sets = parser.add_mutually_exclusive_group()
    sets.add_argument("--codecs", dest="conditions", action="store_const", const=CODECS)
    sets.add_argument("--processing", dest="conditions", action="store_const", const=PROCESSING)
    parser.set_defaults(conditions=CONDITIONS)
    parser.add_argument("--clips", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    source, out = Path(options.list).parent, Path(options.out)
    clips = chosen_clips(read_table(options.list), options.clips, options.part)
    rows = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, (change, arguments, container) in options.conditions.items():
            folder = name.replace(" ", "-").replace("/", "-")
            (out / folder).mkdir(parents=True, exist_ok=True)
            paths = [f"{folder}/{number:05d}.{container}" for number in range(len(clips))]

            def make(first, name=name, change=change, arguments=arguments, paths=paths):
                numbers = range(first, min(first + BATCH, len(clips)))
                changed = []
                for number in numbers:
                    samples, rate_hz = read_wave(source / clips[number]["path"])
                    changed.append((change(samples, rate_hz, np.random.default_rng([20261121, number])), rate_hz))
                targets = [out / paths[number] for number in numbers]
                write_batch(changed, arguments, targets)
                if name == DECODED_BEFORE:
                    decode_batch(targets)

            list(pool.map(make, range(0, len(clips), BATCH)))
            rows += [
                {**clip, "clip": clip["path"], "path": path, "condition": name} for clip, path in zip(clips, paths)
            ]
            print(name, flush=True)
    write_table(out / "list.csv", [*rows[0].keys()], rows)


if __name__ == "__main__":
    main()
