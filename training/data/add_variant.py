# SPDX-License-Identifier: Apache-2.0
"""Another variant of a cache of originals: every training clip through one or two codecs.

    python3 -m data.add_variant --cache CACHE --out CODED [--number 2] [--jobs 1]

CODED is a cache that links to the files of CACHE and has codec<number>.i16 of its own, of the size of clean.i16. Unlike
the variants of data.prepare_chains, no stream is without a codec, and all begin at 16 kHz. A restart continues after
the last written stream.
"""

import argparse
from collections import defaultdict
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from data.corpus_cache import CorpusCache
from data.part_of_cache import link_samples, recording_of
from data.prepare_chains import SEED, as_int16, streams
from features.recipe import SAMPLE_RATE_HZ
from signals.channel_chain import draw_chain, pass_through

SAVED_STREAMS = 10  # at a time


class Worker:
    """State that the functions of a worker process share."""

    cache = None


def start_worker(folder):
    Worker.cache = CorpusCache(folder)


def coded_stream(task):
    """int16 of the clips of one stream after its chain."""
    variant, number, rows = task
    rng = np.random.default_rng([SEED, variant, number])
    parts = [(Worker.cache.samples(Worker.cache.clips[row]), SAMPLE_RATE_HZ) for row in rows]
    return [as_int16(made) for made in pass_through(parts, draw_chain(rng, codec_share=1), rng)]


def planned_streams(clips, variant):
    """Rows of the training clips, stream by stream; copies are in the stream of their recording."""
    units = defaultdict(list)
    for row, clip in enumerate(clips):
        if clip["split"] == "train":
            units[recording_of(clip)].append(row)
    seconds_of = [clip["samples"] / SAMPLE_RATE_HZ for clip in clips]
    return streams(list(units.values()), seconds_of, np.random.default_rng([SEED, variant]))


def add_variant(folder, variant, jobs=1):
    """Writes codec<variant>.i16 into a cache; an interrupted part stays under another name."""
    path = Path(folder) / f"codec{variant}.i16"
    if path.exists():
        return
    partial, written = path.with_suffix(".partial"), path.with_suffix(".written")
    clips = CorpusCache(folder).clips
    planned = planned_streams(clips, variant)
    done = int(written.read_text()) if partial.exists() and written.exists() else 0
    made = np.memmap(
        partial,
        np.int16,
        mode="r+" if done else "w+",
        shape=(Path(folder) / "clean.i16").stat().st_size // 2,
    )
    tasks = [(variant, number, rows) for number, rows in enumerate(planned)][done:]
    with Pool(jobs, start_worker, (folder,)) as pool:
        for (_, number, rows), parts in zip(tasks, pool.imap(coded_stream, tasks)):
            for row, samples in zip(rows, parts):
                first = clips[row]["offset"]
                made[first : first + len(samples)] = samples
            if (number + 1) % SAVED_STREAMS == 0:
                made.flush()
                written.write_text(str(number + 1))
                print(f"{number + 1} of {len(planned)} streams", flush=True)
    made.flush()
    partial.replace(path)
    written.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--number", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    cache, out = Path(options.cache).resolve(), Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    link_samples(cache, out)
    if not (out / "clips.csv").exists():
        (out / "clips.csv").symlink_to(cache / "clips.csv")
    add_variant(out, options.number, options.jobs)


if __name__ == "__main__":
    main()
