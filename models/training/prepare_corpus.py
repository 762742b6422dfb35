# SPDX-License-Identifier: Apache-2.0
"""Decode the corpus once, add copy-synthesised spoofs, and pass the training clips of both classes through codecs.

    prepare_corpus.py --corpus FOLDER --cache FOLDER [--codec-variants 2] [--copies 1600] [--jobs 2]

Writes clean.i16, codec1.i16.. (mono 16 kHz int16) and clips.csv into --cache, outside the repository.
"""

import argparse
import csv
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch

from copy_synthesis import VOCODERS
from corpus_cache import SAMPLE_RATE_HZ, write_table

MIN_SAMPLES = SAMPLE_RATE_HZ // 4
GAP_SAMPLES = 1600  # silence between clips that share one encoded stream
MAX_COPY_SAMPLES = 6 * SAMPLE_RATE_HZ


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-threads", "1", *map(str, arguments)], check=True)


def decode_batch(paths):
    """One ffmpeg process for many files: starting it costs more than decoding a clip."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = [part for path in paths for part in ("-i", path)]
        outputs = []
        for index in range(len(paths)):
            outputs += ["-map", f"{index}:a:0", "-ac", "1", "-ar", SAMPLE_RATE_HZ, "-f", "s16le", f"{folder}/{index}"]
        ffmpeg(*inputs, *outputs)
        return [np.fromfile(f"{folder}/{index}", dtype=np.int16) for index in range(len(paths))]


def decode_corpus(corpus, jobs):
    with open(corpus / "index.csv", newline="") as index:
        clips = list(csv.DictReader(index))
    batches = [clips[first:first + 40] for first in range(0, len(clips), 40)]
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
    # The square root keeps the large campaigns in, without letting them rule.
    sizes = np.sqrt([sum(map(len, speakers)) for speakers in sources])
    chosen = set()
    for _ in range(count * 20):
        if len(chosen) == count:
            break
        speakers = sources[rng.choice(len(sizes), p=sizes / sizes.sum())]
        candidates = speakers[rng.integers(len(speakers))]
        chosen.add(candidates[rng.integers(len(candidates))])
    return sorted(chosen)


def add_copies(clips, audio, count, rng):
    names = list(VOCODERS)
    for number, index in enumerate(choose_clips_to_copy(clips, audio, count, rng)):
        name, human = names[number % len(names)], audio[index][:MAX_COPY_SAMPLES].astype(np.float32) / 32768
        spoof = VOCODERS[name](human, rng)
        if not np.all(np.isfinite(spoof)):
            raise ValueError(f"{name} of {clips[index]['path']} is not finite")
        audio.append((np.clip(spoof, -1, 0.9999) * 32768).astype(np.int16))
        clips.append({**clips[index], "path": f"{name}:{clips[index]['path']}", "label": "spoof", "system": name,
                      "category": "own-copy-synthesis"})


def choose_codec(rng):
    """(name, encoder arguments, container, rates the encoder may run at)."""
    kbit = lambda *rates: ["-b:a", f"{rng.choice(rates)}k"]
    kinds = {
        "mp3": (["-c:a", "libmp3lame", *kbit(32, 48, 64, 96, 128, 160)], "mp3", [16000, 22050, 24000, 44100]),
        "aac": (["-c:a", "aac", *kbit(32, 48, 64, 96, 128)], "m4a", [16000, 22050, 24000, 44100]),
        "opus": (["-c:a", "libopus", *kbit(12, 16, 24, 32, 48, 64)], "ogg", [16000, 24000, 48000]),
        "vorbis": (["-c:a", "libvorbis", "-q:a", f"{rng.integers(0, 7)}"], "ogg", [16000, 22050, 44100]),
        "speex": (["-c:a", "libspeex", *kbit(16, 24)], "ogg", [16000]),
        "g722": (["-c:a", "g722"], "wav", [16000]),
        "gsm": (["-c:a", "libgsm_ms"], "wav", [8000]),
    }
    weights = [0.40, 0.14, 0.18, 0.12, 0.04, 0.04, 0.08]
    name = rng.choice(list(kinds), p=weights)
    return (name, *kinds[name])


def through_codec(samples, codec, rate_hz):
    """Encode and decode; the result is aligned to the input to a few samples and has the same length."""
    _, arguments, container, _ = codec
    with tempfile.TemporaryDirectory() as folder:
        coded = f"{folder}/coded.{container}"
        pcm = ["-f", "s16le", "-ac", "1"]
        samples.tofile(f"{folder}/in.s16")
        ffmpeg(*pcm, "-ar", SAMPLE_RATE_HZ, "-i", f"{folder}/in.s16", "-ar", rate_hz, *arguments, coded)
        ffmpeg("-i", coded, *pcm, "-ar", SAMPLE_RATE_HZ, f"{folder}/out.s16")
        decoded = np.fromfile(f"{folder}/out.s16", dtype=np.int16)[:len(samples)]
    return np.pad(decoded, (0, len(samples) - len(decoded)))


def code_variant(clips, audio, seed, jobs):
    """Every training clip once through some codec. Clips of both classes, mixed, share a stream and its settings."""
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
                coded[index] = stream[start:start + len(audio[index])]
                start += len(audio[index]) + GAP_SAMPLES
    return coded


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default=os.environ.get("VERAVOX_CORPUS"))
    parser.add_argument("--cache", required=True)
    parser.add_argument("--codec-variants", type=int, default=2)
    parser.add_argument("--copies", type=int, default=1600)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=20260326)
    options = parser.parse_args()
    if not options.corpus:
        parser.error("the corpus is not named: use --corpus or VERAVOX_CORPUS")
    cache = Path(options.cache)
    cache.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.jobs)
    started = time.monotonic()

    def report(text):
        print(f"{time.monotonic() - started:7.1f} s  {text}", flush=True)

    clips, audio = decode_corpus(Path(options.corpus), options.jobs)
    report(f"{len(clips)} clips decoded")
    add_copies(clips, audio, options.copies, np.random.default_rng(options.seed))
    report(f"{len(clips)} clips with copies")
    kept = [index for index in range(len(clips)) if len(audio[index]) >= MIN_SAMPLES and np.any(audio[index])]
    clips, audio = [clips[index] for index in kept], [audio[index] for index in kept]
    offset = 0
    for clip, samples in zip(clips, audio):
        clip["offset"], clip["samples"] = offset, len(samples)
        offset += len(samples)
    np.concatenate(audio).tofile(cache / "clean.i16")
    write_table(cache, clips)
    report(f"{len(clips)} clips kept, {offset / SAMPLE_RATE_HZ / 3600:.2f} h")
    for variant in range(1, options.codec_variants + 1):
        np.concatenate(code_variant(clips, audio, options.seed + variant, options.jobs)).tofile(cache / f"codec{variant}.i16")
        report(f"codec variant {variant}")


if __name__ == "__main__":
    main()
