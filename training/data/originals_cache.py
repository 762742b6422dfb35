# SPDX-License-Identifier: Apache-2.0
"""Original recordings on disk: per repository one file of mono int16 samples at the published rates, and a table."""

import csv
import wave
from pathlib import Path

import numpy as np

MAX_RATE_HZ = 48000
OWN_FIELDS = ["origin", "rate_hz", "offset", "samples"]


def file_stem(repository):
    return repository.replace("/", "+")


def read_table(path):
    with open(path, newline="") as table:
        return list(csv.DictReader(table))


def write_wave(path, samples, rate_hz):
    """`samples`: int16 of one channel."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate_hz, 0, "NONE", ""))
        file.writeframes(samples.tobytes())


def write_table(path, fields, rows):
    """Atomic write."""
    partial = Path(f"{path}.partial")
    with open(partial, "w", newline="") as table:
        writer = csv.DictWriter(table, fields, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    partial.replace(path)


class OriginalsCache:
    """Read-only view of data/prepare_originals.py's output. A clip has the columns of sources.csv, `origin` (mirror
    or corpus), `rate_hz`."""

    def __init__(self, folder):
        self._folder, self._files, self.clips = Path(folder), {}, []
        for table in sorted(self._folder.glob("*+*.csv")):
            for clip in read_table(table):
                for field in ("rate_hz", "offset", "samples"):
                    clip[field] = int(clip[field])
                self.clips.append(clip)

    def samples(self, clip):
        """float32 [n] in -1..1 at clip["rate_hz"]."""
        stem = file_stem(clip["repository"])
        if stem not in self._files:
            self._files[stem] = np.memmap(self._folder / f"{stem}.i16", dtype=np.int16, mode="r")
        first = clip["offset"]
        return self._files[stem][first : first + clip["samples"]].astype(np.float32) / 32768
