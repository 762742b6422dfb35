# SPDX-License-Identifier: Apache-2.0
"""Write the validation clips as files, each as it is and through every condition, with a list for `veravox evaluate`.

    python3 -m judge.make_conditions --cache FOLDER --out FOLDER [--clips N] [--jobs 2]

The list's columns are those of the corpus's index, and `condition`. Clips below 1 s, which the server refuses, are left
out.
"""

import argparse
import csv
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from data.corpus_cache import CorpusCache
from data.prepare_corpus import MEASURED_CODECS, ffmpeg
from features.recipe import SAMPLE_RATE_HZ
from signals.augmentation import equalise_and_add_noise

BATCH = 40
LEADING_SILENCE = np.zeros(SAMPLE_RATE_HZ // 2, np.float32)


def noisy(snr_db):
    return lambda samples, rng: equalise_and_add_noise(samples, rng, spread_db=0, snr_db=(snr_db, snr_db))


def as_it_is(samples, _):
    return samples


CONDITIONS = {  # name: (change of the samples, encoder arguments, container)
    "clean": (as_it_is, ["-c:a", "pcm_s16le"], "wav"),
    "flac": (as_it_is, ["-c:a", "flac"], "flac"),
    "wav 44.1 kHz": (as_it_is, ["-c:a", "pcm_s16le", "-ar", "44100", "-af", "aresample=filter_size=256"], "wav"),
    "30 dB quieter": (lambda samples, _: samples * 10**-1.5, ["-c:a", "pcm_s24le"], "wav"),
    "0.5 s of silence before": (
        lambda samples, _: np.concatenate([LEADING_SILENCE, samples]),
        ["-c:a", "pcm_s16le"],
        "wav",
    ),
    **{
        name: (as_it_is, [*arguments, "-ar", rate_hz], container)
        for name, (arguments, container, rate_hz) in MEASURED_CODECS.items()
    },
    "band limit 4 kHz": (as_it_is, ["-c:a", "pcm_s16le", "-af", "aresample=8000,aresample=16000"], "wav"),
    "noise 20 dB": (noisy(20), ["-c:a", "pcm_s16le"], "wav"),
    "noise 10 dB": (noisy(10), ["-c:a", "pcm_s16le"], "wav"),
}


def write_batch(changed, arguments, paths):
    """Float samples as coded files, by one ffmpeg process: starting it costs more than coding a clip."""
    with tempfile.TemporaryDirectory() as folder:
        inputs, outputs = [], []
        for index, (samples, path) in enumerate(zip(changed, paths)):
            samples.astype(np.float32).tofile(f"{folder}/{index}")
            inputs += ["-f", "f32le", "-ac", "1", "-ar", SAMPLE_RATE_HZ, "-i", f"{folder}/{index}"]
            outputs += ["-map", f"{index}:a", *arguments, path]
        ffmpeg(*inputs, *outputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--clips", type=int, help="only so many, drawn at random")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    cache, out = CorpusCache(options.cache), Path(options.out)
    clips = [clip for clip in cache.clips if clip["split"] == "valid" and clip["samples"] >= SAMPLE_RATE_HZ]
    if options.clips:
        clips = [clips[index] for index in sorted(np.random.default_rng(1).permutation(len(clips))[: options.clips])]
    rows = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, (change, arguments, container) in CONDITIONS.items():
            folder = name.replace(" ", "-").replace("/", "-")
            (out / folder).mkdir(parents=True, exist_ok=True)

            paths = [f"{folder}/{number:05d}.{container}" for number in range(len(clips))]

            def make(first, change=change, arguments=arguments, paths=paths):
                numbers = range(first, min(first + BATCH, len(clips)))
                changed = [
                    change(cache.samples(clips[number]), np.random.default_rng([20261121, number]))
                    for number in numbers
                ]
                write_batch(changed, arguments, [out / paths[number] for number in numbers])

            list(pool.map(make, range(0, len(clips), BATCH)))
            rows += [
                {**clip, "clip": clip["path"], "path": path, "condition": name} for clip, path in zip(clips, paths)
            ]
            print(name, flush=True)
    columns = [
        "path",
        "label",
        "condition",
        "system",
        "source",
        "speaker",
        "category",
        "language",
        "original_format",
        "clip",
    ]
    with open(out / "list.csv", "w", newline="") as table:
        writer = csv.DictWriter(table, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
