# SPDX-License-Identifier: Apache-2.0
"""Decode the corpus once, add copy-synthesised spoofs, and pass the training clips of both classes through codecs.

    python3 -m data.prepare_corpus --corpus FOLDER --cache FOLDER [--codec-variants 2] [--copies 2500] [--more-clips
        FOLDER ..] [--jobs 2]

--more-clips adds the clips of another folder of this kind, such as the output of data/speech_engines.py. Writes
clean.i16, codec1.i16.. (mono 16 kHz int16) and clips.csv into --cache, outside the repository.
"""

import argparse
import csv
import os
import subprocess
import tempfile
import time
import wave
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from data.corpus_cache import CorpusCache, write_clips
from features.native import Resampler
from features.recipe import SAMPLE_RATE_HZ
from signals.copy_synthesis import VOCODERS, copy

OPUS_RATE_HZ = 48000  # decoders' output rate for any input
MIN_SAMPLES = SAMPLE_RATE_HZ // 4
GAP_SAMPLES = 1600  # silence between clips that share one encoded stream
MEASURED_CODECS = {  # codecs with published figures: (encoder arguments, container, rate the encoder runs at)
    "mp3 32 kbit/s": (["-c:a", "libmp3lame", "-b:a", "32k"], "mp3", 22050),
    "mp3 96 kbit/s": (["-c:a", "libmp3lame", "-b:a", "96k"], "mp3", 44100),
    "aac 48 kbit/s": (["-c:a", "aac", "-b:a", "48k"], "m4a", 44100),
    "opus 16 kbit/s": (["-c:a", "libopus", "-b:a", "16k"], "ogg", 16000),
    "mu-law 8 kHz": (["-c:a", "pcm_mulaw"], "wav", 8000),
}
MAX_COPY_SAMPLES = 6 * SAMPLE_RATE_HZ


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-threads", "1", *map(str, arguments)], check=True)


def resampled(path, rate_hz):
    """int16 at 16 kHz of a file of float32 samples, by the server's own resampler: another one's edge at 8 kHz would
    occur in training but not in serving."""
    samples = np.fromfile(path, dtype=np.float32)
    if rate_hz != SAMPLE_RATE_HZ:
        samples = Resampler(rate_hz, SAMPLE_RATE_HZ).resample(samples)
    return np.clip(np.round(samples * 32768), -32768, 32767).astype(np.int16)


def rate_of(path):
    """The rate that a file is decoded at. The corpus's FLAC files have 16 kHz."""
    if path.suffix == ".wav":
        with wave.open(str(path)) as file:
            return file.getframerate()
    return OPUS_RATE_HZ if path.suffix == ".opus" else SAMPLE_RATE_HZ


def decode_batch(paths):
    """One ffmpeg process for many files: starting it costs more than decoding a clip."""
    rates_hz = [rate_of(path) for path in paths]
    with tempfile.TemporaryDirectory() as folder:
        inputs = [part for path in paths for part in ("-i", path)]
        outputs = []
        for index, rate_hz in enumerate(rates_hz):
            outputs += ["-map", f"{index}:a:0", "-ac", "1", "-ar", rate_hz, "-f", "f32le", f"{folder}/{index}"]
        ffmpeg(*inputs, *outputs)
        return [resampled(f"{folder}/{index}", rate_hz) for index, rate_hz in enumerate(rates_hz)]


def decode_corpus(corpus, jobs):
    with open(corpus / "index.csv", newline="") as index:
        clips = list(csv.DictReader(index))
    batches = [clips[first : first + 40] for first in range(0, len(clips), 40)]
    with ThreadPoolExecutor(jobs) as pool:
        decoded = pool.map(lambda batch: decode_batch([corpus / clip["path"] for clip in batch]), batches)
        audio = [samples for batch in decoded for samples in batch]
    return clips, audio


def choose_clips_to_copy(clips, audio, count, rng):
    """Human training clips, drawn evenly over sources and then speakers."""
    by_source = defaultdict(lambda: defaultdict(list))
    for index, clip in enumerate(clips):
        if clip["label"] == "bonafide" and clip["split"] == "train" and len(audio[index]) >= SAMPLE_RATE_HZ:
            by_source[clip["source"]][clip["speaker"]].append(index)
    sources = [list(speakers.values()) for speakers in by_source.values()]
    # The square root includes the large campaigns without letting them dominate.
    sizes = np.sqrt([sum(map(len, speakers)) for speakers in sources])
    chosen = set()
    for _ in range(count * 20):
        if len(chosen) == count:
            break
        speakers = sources[rng.choice(len(sizes), p=sizes / sizes.sum())]
        candidates = speakers[rng.integers(len(speakers))]
        chosen.add(candidates[rng.integers(len(candidates))])
    return sorted(chosen)


def add_copies(clips, audio, count, seed):
    names = list(VOCODERS)
    for number, index in enumerate(choose_clips_to_copy(clips, audio, count, np.random.default_rng(seed))):
        name, human = names[number % len(names)], audio[index][:MAX_COPY_SAMPLES].astype(np.float32) / 32768
        audio.append(np.round(copy(name, human, np.random.default_rng([seed, number])) * 32768).astype(np.int16))
        clips.append(
            {
                **clips[index],
                "path": f"{name}:{clips[index]['path']}",
                "label": "spoof",
                "system": name,
                "category": "own-copy-synthesis",
            }
        )


def choose_codec(rng):
    """(name, encoder arguments, container, possible encoder rates)."""
    kbit = lambda *rates: ["-b:a", f"{rng.choice(rates)}k"]
    kinds = {
        "mp3": (["-c:a", "libmp3lame", *kbit(24, 32, 32, 48, 64, 96, 128)], "mp3", [16000, 22050, 24000, 44100]),
        "aac": (["-c:a", "aac", *kbit(32, 48, 64, 96, 128)], "m4a", [16000, 22050, 24000, 44100]),
        "opus": (["-c:a", "libopus", *kbit(10, 12, 16, 16, 24, 32, 48)], "ogg", [16000, 24000, 48000]),
        "vorbis": (["-c:a", "libvorbis", "-q:a", f"{rng.integers(0, 7)}"], "ogg", [16000, 22050, 44100]),
        "speex": (["-c:a", "libspeex", *kbit(16, 24)], "ogg", [16000]),
        "g722": (["-c:a", "g722"], "wav", [16000]),
        "gsm": (["-c:a", "libgsm_ms"], "wav", [8000]),
        "mu-law": (["-c:a", "pcm_mulaw"], "wav", [8000]),
    }
    weights = [0.34, 0.14, 0.22, 0.08, 0.04, 0.04, 0.06, 0.08]
    name = rng.choice(list(kinds), p=weights)
    return (name, *kinds[name])


def through_codec(samples, codec, rate_hz):
    """Encodes and decodes; the result is aligned to the input within a few samples and has the same length."""
    _, arguments, container, _ = codec
    with tempfile.TemporaryDirectory() as folder:
        coded = f"{folder}/coded.{container}"
        pcm = ["-f", "s16le", "-ac", "1"]
        samples.tofile(f"{folder}/in.s16")
        ffmpeg(*pcm, "-ar", SAMPLE_RATE_HZ, "-i", f"{folder}/in.s16", "-ar", rate_hz, *arguments, coded)
        decoded_rate_hz = OPUS_RATE_HZ if "libopus" in arguments else rate_hz
        ffmpeg("-i", coded, "-ac", "1", "-ar", decoded_rate_hz, "-f", "f32le", f"{folder}/out.f32")
        decoded = resampled(f"{folder}/out.f32", decoded_rate_hz)[: len(samples)]
    return np.pad(decoded, (0, len(samples) - len(decoded)))


def code_variant(clips, audio, seed, jobs):
    """Every training clip through one codec. Clips of both classes, mixed, share a stream and its settings."""
    rng = np.random.default_rng(seed)
    order = rng.permutation([index for index, clip in enumerate(clips) if clip["split"] == "train"])
    groups, seconds = [[]], 0.0
    for index in order:
        groups[-1].append(index)
        seconds += len(audio[index]) / SAMPLE_RATE_HZ
        if seconds > 90:
            groups.append([])
            seconds = 0.0
    tasks = []
    for group in filter(None, groups):
        codec = choose_codec(rng)
        tasks.append((group, codec, int(rng.choice(codec[3]))))

    def run(task):
        group, codec, rate_hz = task
        gap = np.zeros(GAP_SAMPLES, np.int16)
        stream = np.concatenate([part for index in group for part in (audio[index], gap)])
        return group, through_codec(stream, codec, rate_hz)

    coded = list(audio)
    with ThreadPoolExecutor(jobs) as pool:
        for group, stream in pool.map(run, tasks):
            start = 0
            for index in group:
                coded[index] = stream[start : start + len(audio[index])]
                start += len(audio[index]) + GAP_SAMPLES
    return coded


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default=os.environ.get("VERAVOX_CORPUS"))
    parser.add_argument("--cache", required=True)
    parser.add_argument("--codec-variants", type=int, default=2)
    parser.add_argument("--copies", type=int, default=2500)
    parser.add_argument("--more-clips", nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=20260326)
    options = parser.parse_args()
    if not options.corpus:
        parser.error("the corpus is not named: use --corpus or VERAVOX_CORPUS")
    cache = Path(options.cache)
    cache.mkdir(parents=True, exist_ok=True)
    import torch  # imported here, so that other uses of this module work without it

    torch.set_num_threads(options.jobs)
    started = time.monotonic()

    def report(text):
        print(f"{time.monotonic() - started:7.1f} s  {text}", flush=True)

    clips, audio = decode_corpus(Path(options.corpus), options.jobs)
    report(f"{len(clips)} clips decoded")
    add_copies(clips, audio, options.copies, options.seed)
    for folder in options.more_clips:
        more = CorpusCache(folder)
        clips += more.clips
        audio += [more.pcm(clip) for clip in more.clips]
    report(f"{len(clips)} clips with copies and more clips")
    kept = [index for index in range(len(clips)) if len(audio[index]) >= MIN_SAMPLES and np.any(audio[index])]
    clips, audio = [clips[index] for index in kept], [audio[index] for index in kept]
    write_clips(cache, clips, audio)
    report(f"{len(clips)} clips kept, {sum(map(len, audio)) / SAMPLE_RATE_HZ / 3600:.2f} h")
    for variant in range(1, options.codec_variants + 1):
        np.concatenate(code_variant(clips, audio, options.seed + variant, options.jobs)).tofile(
            cache / f"codec{variant}.i16"
        )
        report(f"codec variant {variant}")


if __name__ == "__main__":
    main()
