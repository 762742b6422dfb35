# SPDX-License-Identifier: Apache-2.0
"""The output of bench/clip-measures.ts: clips with the pipeline's measures, and scores of their windows without the
offsets by codec."""

import argparse
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from data.originals_cache import read_table
from export.manifest_file import MODELS
from judge.figures import alike, calibration_error, group_of

MEASURES = ["duration_s", "speech_s", "clipped_ratio", "high_band_drop_db", "noise_gap_db"]
THRESHOLD = 0.5
FEW_CLIPS = 5


def options_parser(description):
    """For commands that use such files and one model of a manifest."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measures", nargs="+")
    parser.add_argument("--model-id", required=True)
    parser.add_argument("--models", default=MODELS)
    return parser


def logit(probability):
    return np.log(probability) - np.log1p(-probability)


def sigmoid(value):
    return 1 / (1 + np.exp(-value))


def both_classes_alike(clips, spoof):
    """Weights that sum to 1: half for each class, and within it the same for each system or source. Groups of fewer
    than FEW_CLIPS count as one: otherwise a single clip would weigh as much as hundreds."""
    counts = Counter(group_of(clip) for clip in clips)
    group = lambda clip: group_of(clip) if counts[group_of(clip)] >= FEW_CLIPS else f"few/{clip['label']}"
    weights = alike(clips, group)
    return np.where(spoof, weights / weights[spoof].sum(), weights / weights[~spoof].sum()) / 2


@dataclass
class Measured:
    """Clips of a detector: `windows` holds the probabilities of each clip's windows."""

    clips: list
    windows: list

    @classmethod
    def read(cls, paths, model_id):
        rows = [row for path in paths for row in read_table(path)]
        column = f"scores {model_id}"
        rows = [row for row in rows if row[column]]
        return cls(rows, [np.array([mean_of(window) for window in row[column].split()]) for row in rows])

    def __post_init__(self):
        self.spoof = np.array([clip["label"] == "spoof" for clip in self.clips])
        self.is_calibration = np.array([clip["part"] == "calibration" for clip in self.clips])

    def at(self, places):
        return Measured([self.clips[place] for place in places], [self.windows[place] for place in places])

    def only(self, chosen):
        return self.at(np.flatnonzero(chosen))

    def page_by_page(self, changed):
        """The same with the windows of changed(page, the page's clips) for each page."""
        windows = list(self.windows)
        for page in np.unique(self.pages):
            own = np.flatnonzero(self.pages == page)
            for place, scores in zip(own, changed(page, self.at(own)).windows):
                windows[place] = scores
        return Measured(self.clips, windows)

    def of_part(self, part):
        return self.only(self.is_calibration == (part == "calibration"))

    def calibrated(self, before, after):
        """The same with a different calibration."""
        all_windows = np.concatenate(self.windows)
        changed = sigmoid(after["scale"] * (logit(all_windows) - before["bias"]) / before["scale"] + after["bias"])
        return Measured(self.clips, np.split(changed, np.cumsum([len(windows) for windows in self.windows])[:-1]))

    @cached_property
    def pages(self):
        return np.array([clip["source"] for clip in self.clips])

    @property
    def coded_bits_per_s(self):
        """Codec of each clip's windows; nothing for clips without a codec."""
        return [np.array(clip["coded_bits_per_s"].split(), float) for clip in self.clips]

    @property
    def opus_bits_per_s(self):
        """The upper median over each clip's windows; NaN if it is not Opus."""
        of_clip = lambda clip, rates: np.sort(rates)[len(rates) // 2] if clip["codec"] == "opus" else np.nan
        return np.array(list(map(of_clip, self.clips, self.coded_bits_per_s)))

    def with_codec_offsets(self, tables):
        """The same with the server's scores under these tables: {codec: [[bits per second, offset], ..]}."""

        def changed(codec, windows, rates):
            if codec not in tables:
                return windows
            known, offsets = np.array(tables[codec]).T
            return sigmoid(logit(windows) + np.interp(np.log2(rates), np.log2(known), offsets))

        codecs = [clip["codec"] for clip in self.clips]
        return Measured(self.clips, list(map(changed, codecs, self.windows, self.coded_bits_per_s)))

    def measure(self, name):
        """One of MEASURES per clip; NaN if there was too little to measure."""
        return np.array([float(clip[name]) if clip[name] else np.nan for clip in self.clips])

    def mean(self, of):
        """Over the windows of each clip."""
        counts = np.array([len(windows) for windows in self.windows])
        return np.add.reduceat(of(np.concatenate(self.windows)), np.cumsum(counts) - counts) / counts

    @cached_property
    def scores(self):
        return self.mean(lambda window: window)

    @cached_property
    def confidence(self):
        return self.mean(lambda window: np.abs(window - THRESHOLD)) / THRESHOLD

    @cached_property
    def is_mixed(self):
        spoofed = self.mean(lambda window: (window >= THRESHOLD).astype(float))
        return (spoofed > 0) & (spoofed < 1)

    @cached_property
    def is_wrong(self):
        return (self.scores >= THRESHOLD) != self.spoof

    @cached_property
    def weights(self):
        return both_classes_alike(self.clips, self.spoof)

    def calibration_error(self):
        """Weighs systems and sources equally."""
        return calibration_error(self.scores, self.spoof, weights=self.weights)


def mean_of(window):
    # The logit of 0 or 1 is not finite.
    return np.clip(np.mean([float(score) for score in window.split("|")]), 1e-9, 1 - 1e-9)
