# SPDX-License-Identifier: Apache-2.0
"""The human side of the training originals at one rate per folder, with the track of each voice's cycles.

    python3 -m resynthesis.material --originals ORIGINALS --out MATERIAL [--rates 24000 22050 16000] [--terms open ..]
        [--jobs 2]

A recording is in all rates up to its own. Excluded are those also in `valid`, second copies, those below a second, and
those with an empty upper quarter of the band, from which a generator at 24 kHz would learn to write nothing there.
Writes MATERIAL/RATE/samples.i16, track.f32 and clips.csv, with the table last: a rate with a table is kept.
"""

import argparse
from collections import defaultdict
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import torch
from scipy.signal import resample_poly

from data.near_duplicates import group_duplicates
from data.originals_cache import OriginalsCache, read_table, write_table
from data.prepare_chains import as_int16, choose, fingerprint_of, start_worker
from data.prepare_originals import TERMS
from resynthesis.source import TRACK_HOP_S, excitation, track
from resynthesis.spectra import LEVEL_RMS

RATES_HZ = (24000, 22050, 16000)
MAX_SECONDS, MIN_SECONDS = 12, 1.0
BLOCK = 256  # recordings in memory at once
EMPTY_DB = -75  # of the upper quarter of the band relative to all of it
SOURCE_POWER = 0.5
NUMBERS = ("rate_hz", "offset", "samples", "track_offset", "original_rate_hz")


def at_rate(samples, own_hz, rate_hz):
    """float32 [n], by a long filter."""
    divisor = np.gcd(own_hz, rate_hz)
    return resample_poly(samples, rate_hz // divisor, own_hz // divisor, window=("kaiser", 9.0)).astype(np.float32)


def has_upper_band(samples):
    power = np.abs(np.fft.rfft(samples)) ** 2
    return 10 * np.log10(power[3 * len(power) // 4 :].sum() / (power.sum() + 1e-20) + 1e-20) > EMPTY_DB


def rows_of_track(count, rate_hz):
    """Rows of track() for this many samples, plus a spare one."""
    return int(count / rate_hz / TRACK_HOP_S) + 2


def _prepared(task):
    clip, samples, rate_hz = task
    samples = as_int16(at_rate(samples, clip["rate_hz"], rate_hz))
    heard = samples.astype(np.float32) / 32768
    if not has_upper_band(heard):
        return None
    rows = track(heard, rate_hz)
    wanted = rows_of_track(len(samples), rate_hz)
    return samples, np.pad(rows, ((0, max(0, wanted - len(rows))), (0, 0)), "edge")[:wanted]


def prepare(folder, clips, samples_of, rate_hz, pool):
    """Writes one rate of `clips`, which have the columns of OriginalsCache. Returns the table."""
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [clip for clip in clips if clip["rate_hz"] >= rate_hz and clip["samples"] >= MIN_SECONDS * clip["rate_hz"]]

    def all_prepared():
        # Block by block: a pool accepts all its input before the first result is ready.
        for first in range(0, len(chosen), BLOCK):
            block = chosen[first : first + BLOCK]
            tasks = [(clip, samples_of(clip)[: MAX_SECONDS * clip["rate_hz"]], rate_hz) for clip in block]
            yield from zip(block, pool.map(_prepared, tasks, 16))

    table, offset, track_offset = [], 0, 0
    with open(folder / "samples.i16", "wb") as audio, open(folder / "track.f32", "wb") as tracks:
        for clip, made in all_prepared():
            if made is None or not made[0].any():
                continue
            samples, rows = made
            audio.write(samples.tobytes())
            tracks.write(rows.tobytes())
            place = {"offset": offset, "samples": len(samples), "track_offset": track_offset, "rate_hz": rate_hz}
            table.append({**clip, **place, "original_rate_hz": clip["rate_hz"]})
            offset += len(samples)
            track_offset += len(rows)
    if not table:
        raise SystemExit(f"no recording is at {rate_hz} Hz or more")
    write_table(folder / "clips.csv", list(table[0]), table)
    return table


class Material:
    """Read-only view of one rate."""

    def __init__(self, folder):
        folder = Path(folder)
        self.clips = read_table(folder / "clips.csv")
        for clip in self.clips:
            clip.update({field: int(clip[field]) for field in NUMBERS})
        self.rate_hz = self.clips[0]["rate_hz"]
        self._samples = np.memmap(folder / "samples.i16", np.int16, "r")
        self._tracks = np.memmap(folder / "track.f32", np.float32, "r").reshape(-1, 2)

    def samples(self, clip, start=0, count=None):
        """float32 in -1..1"""
        first = clip["offset"] + start
        last = clip["offset"] + clip["samples"] if count is None else first + count
        return self._samples[first:last].astype(np.float32) / 32768

    def pulses(self, clip, start=0, count=None):
        """float32 [2, n] of source.excitation"""
        count = clip["samples"] - start if count is None else count
        first = clip["track_offset"]
        rows = self._tracks[first : first + rows_of_track(clip["samples"], self.rate_hz)]
        return excitation(rows, start, count, self.rate_hz)


class Crops:
    """batch(i) depends only on the seed and i: crops at about LEVEL_RMS, drawn over sources and speakers."""

    def __init__(self, material, crop_samples, batch_size, seed):
        self._material, self._count, self._batch_size, self._seed = material, crop_samples, batch_size, seed
        sources = defaultdict(lambda: defaultdict(list))
        for clip in material.clips:
            if clip["samples"] >= crop_samples:
                sources[clip["repository"]][clip["speaker"]].append(clip)
        if not sources:
            raise ValueError(f"no clip is as long as a crop of {crop_samples} samples")
        self._sources = [list(speakers.values()) for speakers in sources.values()]
        sizes = np.array([sum(map(len, speakers)) for speakers in self._sources]) ** SOURCE_POWER
        self._shares = sizes / sizes.sum()

    def _crop(self, rng):
        for _ in range(10):
            speakers = self._sources[rng.choice(len(self._sources), p=self._shares)]
            clips = speakers[rng.integers(len(speakers))]
            clip = clips[rng.integers(len(clips))]
            start = int(rng.integers(clip["samples"] - self._count + 1))
            samples = self._material.samples(clip, start, self._count)
            level = np.sqrt(np.mean(samples**2))
            if level > 3e-3:  # pauses teach little
                break
        scale = LEVEL_RMS / max(level, 1e-4) * 10 ** rng.uniform(-0.4, 0.2)
        return samples * np.float32(scale), self._material.pulses(clip, start, self._count)

    def batch(self, index):
        """(samples [batch, n], pulses [batch, 2, n], a generator of random numbers for the rest of the step)"""
        rng = np.random.default_rng([self._seed, index])
        samples, pulses = zip(*(self._crop(rng) for _ in range(self._batch_size)))
        return torch.from_numpy(np.stack(samples)), torch.from_numpy(np.stack(pulses)), rng


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--originals", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--rates", type=int, nargs="+", default=RATES_HZ)
    parser.add_argument(
        "--terms", nargs="+", choices=TERMS, default=[term for term in TERMS if term != "noncommercial"]
    )
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    wanted = [rate_hz for rate_hz in options.rates if not (Path(options.out, str(rate_hz), "clips.csv")).exists()]
    if not wanted:
        return
    originals = OriginalsCache(options.originals)
    with Pool(options.jobs, start_worker, (options.originals, MAX_SECONDS)) as pool:
        groups = group_duplicates(pool.map(fingerprint_of, range(len(originals.clips)), 64))
        chosen = [originals.clips[index] for index in choose(originals.clips, groups)[0]]
        humans = [clip for clip in chosen if clip["label"] == "bonafide" and clip["terms"] in options.terms]
        for rate_hz in wanted:
            table = prepare(Path(options.out, str(rate_hz)), humans, originals.samples, rate_hz, pool)
            hours = sum(clip["samples"] for clip in table) / rate_hz / 3600
            print(f"{rate_hz} Hz: {len(table)} recordings, {hours:.2f} h", flush=True)


if __name__ == "__main__":
    main()
