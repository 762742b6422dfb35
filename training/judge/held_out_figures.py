# SPDX-License-Identifier: Apache-2.0
"""Figures of runs of train/detector.py or window_curves/held_out.py, from their scores.csv: ablations, or folds
of held-out sources.

    python3 -m judge.held_out_figures RUN ... [--out FIGURES.json]

Prints EER and AUC of each run, and over all runs their mean and the AUC inside one source, which needs both of its
classes. Clips below 1 s, which the server refuses, do not count.
"""

import argparse
import csv
import json
from pathlib import Path

import numpy as np

from features.recipe import SAMPLE_RATE_HZ
from judge.figures import error_figures, inside_sources, rounded

FEW_CLIPS = 3  # per class: an AUC over fewer is meaningless


def read_scores(run):
    """(logits, clips)"""
    with open(Path(run) / "scores.csv", newline="") as table:
        clips = [clip for clip in csv.DictReader(table) if int(clip["samples"]) >= SAMPLE_RATE_HZ]
    return np.array([float(clip["logit"]) for clip in clips]), clips


def of_run(logits, clips):
    spoofs = sum(clip["label"] == "spoof" for clip in clips)
    return {
        "bonafide_clips": len(clips) - spoofs,
        "spoof_clips": spoofs,
        **{name: rounded(value) for name, value in error_figures(logits, clips).items()},
    }


def with_enough_clips(logits, clips):
    count = lambda source, label: sum(clip["source"] == source and clip["label"] == label for clip in clips)
    enough = {
        source
        for source in {clip["source"] for clip in clips}
        if min(count(source, "spoof"), count(source, "bonafide")) >= FEW_CLIPS
    }
    kept = [index for index, clip in enumerate(clips) if clip["source"] in enough]
    return logits[kept], [clips[index] for index in kept]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--out")
    options = parser.parse_args()
    scores = {Path(run).name: read_scores(run) for run in options.runs}
    runs = {name: of_run(*of) for name, of in scores.items()}
    sources = {}
    for of in scores.values():
        sources.update(inside_sources(*with_enough_clips(*of))["sources"])
    figures = {
        "runs": runs,
        "mean_eer": rounded(np.mean([run["eer"] for run in runs.values()])),
        "auc_inside_one_source": {
            "mean": rounded(np.mean(list(sources.values()))) if sources else None,
            "sources": sources,
        },
    }
    text = json.dumps(figures, indent=1)
    print(text)
    if options.out:
        Path(options.out).write_text(text + "\n")


if __name__ == "__main__":
    main()
