# SPDX-License-Identifier: Apache-2.0
"""Finds published copies of human recordings, word for word and in time with them, on the pages of a cache.

    python3 -m data.published_copies --cache CACHE

Pages show the outputs of a vocoder, a codec or a voice conversion next to the recordings, and rarely say which belong
together. Here the envelopes of four bands decide it. Writes published-copies.csv into the cache: for each such spoofed
training clip the path of its original, and the delay of the original in samples. data/sampler.py draws both as a pair.
"""

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

from data.corpus_cache import PUBLISHED_COPIES, PUBLISHED_COPY_FIELDS, CorpusCache
from data.near_duplicates import BAND_EDGES_HZ, HEARD_DB
from data.sampler import OWN_SPOOFS
from features.recipe import SAMPLE_RATE_HZ

HOP, WINDOW = SAMPLE_RATE_HZ // 100, SAMPLE_RATE_HZ // 40
MAX_LAG_FRAMES = 5
LENGTHS_WITHIN_S = 0.1
MIN_SECONDS = 1.0
ALIKE = 0.9  # correlation of the envelopes


def envelopes(samples):
    """[bands, frames] in dB, 10 ms apart, no band more than HEARD_DB below its loudest frame."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, WINDOW)[::HOP] * np.hanning(WINDOW).astype(np.float32)
    power, hz = np.abs(np.fft.rfft(frames, axis=1)) ** 2, np.fft.rfftfreq(WINDOW, 1 / SAMPLE_RATE_HZ)
    levels = 10 * np.log10([power[:, (hz >= low) & (hz < high)].sum(1) + 1e-10 for low, high in BAND_EDGES_HZ])
    return np.maximum(levels, levels.max(1, keepdims=True) - HEARD_DB)


def likeness(original, copy):
    """(highest correlation of two envelopes(), delay of the original there in frames)"""
    found = []
    for lag in range(-MAX_LAG_FRAMES, MAX_LAG_FRAMES + 1):
        one, other = original[:, max(0, lag) :], copy[:, max(0, -lag) :]
        frames = min(one.shape[1], other.shape[1])
        one, other = (part[:, :frames] - part[:, :frames].mean(1, keepdims=True) for part in (one, other))
        found.append(((one * other).sum() / np.sqrt((one**2).sum() * (other**2).sum() + 1e-9), lag))
    return max(found)


def copies_on_page(humans, spoofs, samples_of):
    """A row for each of `spoofs` that copies one of `humans`."""
    known = {}

    def envelopes_of(clip):
        if clip["path"] not in known:
            known[clip["path"]] = envelopes(samples_of(clip))
        return known[clip["path"]]

    for spoof in spoofs:
        alike_in_length = [
            human for human in humans if abs(human["samples"] - spoof["samples"]) <= LENGTHS_WITHIN_S * SAMPLE_RATE_HZ
        ]
        found = [(*likeness(envelopes_of(human), envelopes_of(spoof)), human["path"]) for human in alike_in_length]
        if found and max(found)[0] >= ALIKE:
            alike, lag, original = max(found)
            yield {"copy": spoof["path"], "original": original, "lag_samples": lag * HOP, "likeness": f"{alike:.3f}"}


def published_copies(cache):
    pages = defaultdict(lambda: ([], []))
    for clip in cache.clips:
        is_long_enough = clip["samples"] >= MIN_SECONDS * SAMPLE_RATE_HZ
        if clip["split"] == "train" and clip["category"] not in OWN_SPOOFS and is_long_enough:
            pages[clip["source"]][clip["label"] == "spoof"].append(clip)
    return [row for humans, spoofs in pages.values() for row in copies_on_page(humans, spoofs, cache.samples)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    options = parser.parse_args()
    rows = published_copies(CorpusCache(options.cache))
    with open(Path(options.cache) / PUBLISHED_COPIES, "w", newline="") as table:
        writer = csv.DictWriter(table, PUBLISHED_COPY_FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(rows)} copies of {len({row['original'] for row in rows})} recordings")


if __name__ == "__main__":
    main()
