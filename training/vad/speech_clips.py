# SPDX-License-Identifier: Apache-2.0
"""Speech clips of the corpus that are clean enough for their frames to be labelled by level."""

import csv
import os
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from features.recipe import SAMPLE_RATE_HZ
from vad.frame_labels import HOP_SAMPLES, label_speech, level_range_db

MAX_SECONDS = 10
# Not all of its clips are speech.
_EXCLUDED_SOURCES = {"MycroftAI/Precise-Community-Data"}
# Least level difference of speech and background. With less, the labels would be guesses.
_MIN_RANGE_DB = 35
_BATCH_CLIPS = 40


@dataclass
class SpeechClip:
    path: str
    label: str  # bonafide or spoof
    source: str
    language: str
    samples: np.ndarray  # float32 [n], 16 kHz, whole frames
    speech: np.ndarray  # bool [n / 160], see frame_labels.py
    core: np.ndarray
    level_db: float  # of all core frames


def parse_with_corpus(parser):
    """The command's options with --corpus, which VERAVOX_CORPUS can replace; docs/corpus.md describes the folder."""
    parser.add_argument("--corpus", default=os.environ.get("VERAVOX_CORPUS"))
    options = parser.parse_args()
    if not options.corpus:
        parser.error("the corpus is not named: use --corpus or VERAVOX_CORPUS")
    return options


def _choose(corpus, split, count, rng):
    """Clips drawn evenly over labels, then by the square root of a source's clips, then by speaker."""
    groups = defaultdict(lambda: defaultdict(list))
    with open(corpus / "index.csv", newline="") as index:
        for row in csv.DictReader(index):
            if row["split"] == split and row["source"] not in _EXCLUDED_SOURCES and float(row["duration_s"]) >= 0.4:
                groups[row["label"], row["source"]][row["speaker"] or row["system"]].append(row)
    chosen = []
    for label in ("bonafide", "spoof"):
        sources = {key: list(speakers.values()) for key, speakers in groups.items() if key[0] == label}
        wanted = min(count // 2, sum(len(rows) for speakers in sources.values() for rows in speakers))
        while wanted:
            weights = np.sqrt([sum(map(len, speakers)) for speakers in sources.values()])
            key = list(sources)[rng.choice(len(weights), p=weights / weights.sum())]
            speakers = [rows for rows in sources[key] if rows]
            rows = speakers[rng.integers(len(speakers))]
            chosen.append(rows.pop(rng.integers(len(rows))))
            wanted -= 1
            if not any(sources[key]):
                del sources[key]
    return chosen


def _decode(paths):
    """int16 samples of each file: one ffmpeg process for many, since starting it costs more than decoding a clip."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["ffmpeg", "-nostdin", "-v", "error", "-threads", "1"]
        for path in paths:
            command += ["-t", str(MAX_SECONDS), "-i", str(path)]
        for index in range(len(paths)):
            command += [
                "-map",
                f"{index}:a:0",
                "-ac",
                "1",
                "-ar",
                str(SAMPLE_RATE_HZ),
                "-f",
                "s16le",
                f"{folder}/{index}",
            ]
        subprocess.run(command, check=True)
        return [np.fromfile(f"{folder}/{index}", np.int16) for index in range(len(paths))]


def load_speech_clips(corpus, split, count, rng):
    """Examines about `count` clips of a split ("train" or "valid"); returns those with a quiet background."""
    corpus, clips = Path(corpus), []
    chosen = _choose(corpus, split, count, rng)
    for first in range(0, len(chosen), _BATCH_CLIPS):
        rows = chosen[first : first + _BATCH_CLIPS]
        for row, decoded in zip(rows, _decode([corpus / row["path"] for row in rows])):
            samples = decoded[: len(decoded) // HOP_SAMPLES * HOP_SAMPLES].astype(np.float32) / 32768
            if len(samples) < 40 * HOP_SAMPLES:
                continue
            loud, quiet = level_range_db(samples)
            if loud - quiet < _MIN_RANGE_DB:
                continue
            speech, core = label_speech(samples)
            if core.sum() < 20:
                continue
            power = np.mean(samples.reshape(-1, HOP_SAMPLES)[core] ** 2)
            clips.append(
                SpeechClip(
                    row["path"],
                    row["label"],
                    row["source"],
                    row["language"],
                    samples,
                    speech,
                    core,
                    float(10 * np.log10(power)),
                )
            )
    return clips
