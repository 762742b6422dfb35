# SPDX-License-Identifier: Apache-2.0
"""Make a detector's training cache from original recordings, each also after a random chain of rates and codecs.

    python3 -m data.prepare_chains --originals FOLDER --cache CACHE [--variants 2] [--copies 2000] [--max-seconds 8]
        [--jobs 2]

Writes clean.i16, codec1.i16.. (mono 16 kHz int16) and clips.csv as data/prepare_corpus.py does. In variant 0 a
recording is resampled to 16 kHz as in the server; the others went through signals/channel_chain.py. Of `valid` only the
calibration part is in the cache, not the judging part. Recordings of `train` that are also in `valid` on another page
are left out, and so are second copies within a class.
"""

import argparse
import time
import zlib
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from data.corpus_cache import write_clips
from data.near_duplicates import fingerprint, group_duplicates
from data.originals_cache import OriginalsCache
from data.prepare_corpus import MAX_COPY_SAMPLES, choose_clips_to_copy
from features.recipe import SAMPLE_RATE_HZ
from signals.channel_chain import by_server, draw_chain, pass_through
from signals.copy_synthesis import VOCODERS, copy

CALIBRATION_PARTS = 4  # one in this many of the repositories in `valid`
STREAM_SECONDS = 90
SEED = 20261122


def is_for_calibration(repository):
    return zlib.crc32(repository.encode()) % CALIBRATION_PARTS == 0


def as_int16(samples):
    return np.clip(np.rint(samples * 32768), -32768, 32767).astype(np.int16)


def choose(clips, groups):
    """(indices of training clips, of clips for calibration, omissions with reasons)"""
    of_valid = {group for clip, group in zip(clips, groups) if clip["split"] == "valid"}
    judged = {
        group
        for clip, group in zip(clips, groups)
        if clip["split"] == "valid" and not is_for_calibration(clip["repository"])
    }
    training, calibration, left_out, seen = [], [], Counter(), set()
    for index, (clip, group) in enumerate(zip(clips, groups)):
        kind = (group, clip["label"], clip["system"])
        if clip["split"] == "valid":
            if not is_for_calibration(clip["repository"]):
                left_out["valid, which judges"] += 1
            elif group in judged:
                left_out["of the part for calibration, but also in the part that judges"] += 1
            else:
                calibration.append(index)
        elif group in of_valid:
            left_out["train, but also in valid"] += 1
        elif kind in seen:
            left_out["train, a second time"] += 1
        else:
            seen.add(kind)
            training.append(index)
    return training, calibration, left_out


class _Worker:
    """State of each process: the originals, and the used part of each recording."""

    def __init__(self, originals, max_seconds):
        self.cache, self._max_seconds = OriginalsCache(originals), max_seconds

    def part(self, index):
        """(float32 samples, rate): at most max_seconds of a training clip, from a random place."""
        clip = self.cache.clips[index]
        samples, count = self.cache.samples(clip), int(self._max_seconds * clip["rate_hz"])
        if clip["split"] == "valid" or len(samples) <= count:
            return samples, clip["rate_hz"]
        start = int(np.random.default_rng([SEED, index]).integers(len(samples) - count + 1))
        return samples[start : start + count], clip["rate_hz"]


def start_worker(*arguments):
    global worker
    worker = _Worker(*arguments)


def fingerprint_of(index):
    clip = worker.cache.clips[index]
    return fingerprint(worker.cache.samples(clip), clip["rate_hz"])


def clean_of(index):
    samples, rate_hz = worker.part(index)
    return as_int16(samples if rate_hz == SAMPLE_RATE_HZ else by_server(samples, rate_hz, SAMPLE_RATE_HZ))


def copy_of(task):
    number, name, human = task
    samples = human[:MAX_COPY_SAMPLES].astype(np.float32) / 32768
    return as_int16(copy(name, samples, np.random.default_rng([SEED, number])))


def stream_of(task):
    """int16 of the clips of one stream after its chain. A clip is an index of an original, or int16 samples at 16
    kHz."""
    number, variant, clips = task
    rng = np.random.default_rng([SEED, variant, number])
    parts = [
        worker.part(clip) if isinstance(clip, int) else (clip.astype(np.float32) / 32768, SAMPLE_RATE_HZ)
        for clip in clips
    ]
    return [as_int16(made) for made in pass_through(parts, draw_chain(rng), rng)]


def streams(units, seconds_of, rng):
    """Lists of clips of about STREAM_SECONDS, both classes mixed; units stay together."""
    made, seconds = [[]], 0.0
    for unit in rng.permutation(len(units)):
        made[-1] += units[unit]
        seconds += sum(seconds_of[row] for row in units[unit])
        if seconds > STREAM_SECONDS:
            made.append([])
            seconds = 0.0
    return [stream for stream in made if stream]


def table_row(clip, group, is_valid):
    return {
        "path": f"{clip['repository']}/{clip['path']}#{clip['start_s']}",
        "label": clip["label"],
        "system": clip["system"],
        "split": "valid" if is_valid else "train",
        "source": clip["repository"],
        "speaker": clip["speaker"],
        "category": clip["category"],
        "original_format": clip["original_format"],
        "pair_id": clip["pair_id"],
        "language": clip["language"],
        "rate_hz": clip["rate_hz"],
        "family": clip["family"],
        "recording": group,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--originals", required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--variants", type=int, default=2)
    parser.add_argument("--copies", type=int, default=2000)
    parser.add_argument("--max-seconds", type=float, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    folder, started = Path(options.cache), time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)

    def report(text):
        print(f"{time.monotonic() - started:7.1f} s  {text}", flush=True)

    originals = OriginalsCache(options.originals).clips
    with Pool(options.jobs, start_worker, (options.originals, options.max_seconds)) as pool:
        groups = group_duplicates(pool.map(fingerprint_of, range(len(originals)), 64))
        report(f"{len(originals)} originals, {len(set(groups.tolist()))} different ones")
        training, calibration, left_out = choose(originals, groups)
        for reason, count in left_out.items():
            report(f"left out: {count} of {reason}")
        chosen = training + calibration
        clips = [
            table_row(originals[index], groups[index], position >= len(training))
            for position, index in enumerate(chosen)
        ]
        audio = pool.map(clean_of, chosen, 64)
        report("clean variant")
        copied = choose_clips_to_copy(clips, audio, options.copies, np.random.default_rng(SEED))
        names = list(VOCODERS)
        tasks = [(number, names[number % len(names)], audio[row]) for number, row in enumerate(copied)]
        for (_, name, _), row, made in zip(tasks, copied, pool.imap(copy_of, tasks, 8)):
            audio.append(made)
            clips.append(
                {
                    **clips[row],
                    "path": f"{name}:{clips[row]['path']}",
                    "label": "spoof",
                    "system": name,
                    "category": "own-copy-synthesis",
                    "family": name,
                }
            )
        report(f"{len(copied)} copies")
        kept = [row for row in range(len(clips)) if len(audio[row]) >= SAMPLE_RATE_HZ // 4 and audio[row].any()]
        copy_of_row = {row: len(chosen) + number for number, row in enumerate(copied)}
        write_clips(folder, [clips[row] for row in kept], [audio[row] for row in kept])
        report(f"{len(kept)} clips kept, {sum(len(audio[row]) for row in kept) / SAMPLE_RATE_HZ / 3600:.2f} h")
        # A human clip and its copy go through one chain, both from 16 kHz, so that only the vocoder differs.
        kept_set, pairs = set(kept), [list(pair) for pair in copy_of_row.items()]
        alone = [row for row in kept if row < len(training) and row not in copy_of_row]
        units = [[row] for row in alone] + [[row for row in pair if row in kept_set] for pair in pairs]
        seconds_of = [len(samples) / SAMPLE_RATE_HZ for samples in audio]
        is_paired = {row for pair in pairs for row in pair}
        for variant in range(1, options.variants + 1):
            planned = streams(units, seconds_of, np.random.default_rng([SEED, variant]))
            tasks = [
                (number, variant, [audio[row] if row in is_paired else chosen[row] for row in stream])
                for number, stream in enumerate(planned)
            ]
            coded = list(audio)
            for number, (stream, made) in enumerate(zip(planned, pool.imap(stream_of, tasks))):
                for row, samples in zip(stream, made):
                    coded[row] = np.pad(samples, (0, max(0, len(audio[row]) - len(samples))))[: len(audio[row])]
                if number % 50 == 49:
                    report(f"variant {variant}: {number + 1} of {len(planned)} streams")
            np.concatenate([coded[row] for row in kept]).tofile(folder / f"codec{variant}.i16")
            report(f"variant {variant}")


if __name__ == "__main__":
    main()
