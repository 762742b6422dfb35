# SPDX-License-Identifier: Apache-2.0
"""The decoded corpus on disk: one flat int16 file per variant, all with the same offsets, and one table of clips."""

import csv
from pathlib import Path

import numpy as np

TABLE_FIELDS = [
    "path",
    "label",
    "split",
    "system",
    "source",
    "speaker",
    "category",
    "original_format",
    "pair_id",
    "language",
    "rate_hz",
    "family",
    "recording",
    "offset",
    "samples",
]  # rate_hz: of an original, else empty
PUBLISHED_COPIES = "published-copies.csv"
PUBLISHED_COPY_FIELDS = ["copy", "original", "lag_samples", "likeness"]


class CorpusCache:
    """Read-only view of write_clips' output. `variant` 0 is the original clip, 1.. went through a codec."""

    def __init__(self, folder):
        folder = Path(folder)
        with open(folder / "clips.csv", newline="") as table:
            self.clips = list(csv.DictReader(table))
        for clip in self.clips:
            clip["offset"], clip["samples"] = int(clip["offset"]), int(clip["samples"])
        paths = [folder / "clean.i16", *sorted(folder.glob("codec*.i16"))]
        # {path of a copy: (path of its original, delay of the original in samples)}, from data/published_copies.py
        self.originals = {}
        if (folder / PUBLISHED_COPIES).exists():
            with open(folder / PUBLISHED_COPIES, newline="") as table:
                self.originals = {
                    row["copy"]: (row["original"], int(row["lag_samples"])) for row in csv.DictReader(table)
                }
        self._variants = [np.memmap(path, dtype=np.int16, mode="r") for path in paths]

    @property
    def variants(self):
        return len(self._variants)

    def pcm(self, clip):
        """int16, as stored, of variant 0."""
        return self._variants[0][clip["offset"] : clip["offset"] + clip["samples"]]

    def samples(self, clip, variant=0, start=0, count=None):
        """float32 in -1..1. Validation clips exist in variant 0 only."""
        first = clip["offset"] + start
        last = clip["offset"] + clip["samples"] if count is None else first + count
        return self._variants[variant][first:last].astype(np.float32) / 32768


def write_clips(folder, clips, audio):
    """clips.csv and clean.i16; fills in offset and samples of each clip."""
    offset = 0
    for clip, samples in zip(clips, audio):
        clip["offset"], clip["samples"] = offset, len(samples)
        offset += len(samples)
    np.concatenate(audio).tofile(Path(folder) / "clean.i16")
    with open(Path(folder) / "clips.csv", "w", newline="") as table:
        writer = csv.DictWriter(table, TABLE_FIELDS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(clips)
