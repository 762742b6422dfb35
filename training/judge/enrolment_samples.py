# SPDX-License-Identifier: Apache-2.0
"""Measure voiceprints made of several samples.

    python3 -m judge.enrolment_samples FOLDER --model ../models/ID.onnx --entry ID --json FIGURES.json

FOLDER comes from `judge.speaker_originals recordings`. A voiceprint is the mean of the embeddings of one, two or three
samples of a person, each of 5 s of speech. It is tested against all other samples of the campaign: those of the same
person and division, and those of strangers. All three kinds of voiceprint are tested against the same samples.

`mixed_up` measures how often the server's rule notices that one of three samples is a stranger's from the same
campaign, and how often it drops a genuine sample (src/analysis/voiceid/joined-samples.ts).
"""

import argparse
import json
from itertools import combinations
from pathlib import Path

import numpy as np

from export.manifest_file import MODELS
from judge.figures import equal_error_rate, rounded
from judge.speaker_figures import similarity, speaker_interval
from judge.speaker_originals import CONDITIONS, FEWEST_PEOPLE, Judged
from judge.speaker_trials import Recording, Trials

SPEECH_S = 5.0
MOST_SAMPLES = 3
AGREEMENT_LIMITS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


class Samples:
    """The embeddings of 5 s samples under one condition, of people with at least four of them in one division."""

    def __init__(self, rows, vectors, condition):
        kept = [
            index
            for index, row in enumerate(rows)
            if row["role"] == "sample" and row["condition"] == condition and row["seconds"] == SPEECH_S
        ]
        self.vectors = vectors[kept]
        column = lambda name: np.array([rows[index][name] for index in kept])
        self.campaigns, self.people, self.splits = column("campaign"), column("person"), column("split")
        self.groups = {}
        for key in sorted(set(zip(self.campaigns, self.people, self.splits.tolist()))):
            campaign, person, split = key
            own = np.flatnonzero((self.campaigns == campaign) & (self.people == person) & (self.splits == split))
            if len(own) > MOST_SAMPLES:
                self.groups[key] = own
        enrolled = {campaign: {key[1] for key in self.groups if key[0] == campaign} for campaign, *_ in self.groups}
        self.groups = {key: own for key, own in self.groups.items() if len(enrolled[key[0]]) >= FEWEST_PEOPLE}

    def strangers(self, key):
        campaign, person, split = key
        return np.flatnonzero((self.campaigns == campaign) & (self.people != person) & (self.splits == split))


def several_samples(samples, count):
    """Voiceprints of the first `count` samples of each person against the samples from the fourth on and strangers:
    (cosines, Trials, enrolments, tests)."""
    enrolments, cosines, parts = [], [], []
    for key, own in samples.groups.items():
        voiceprint = unit(samples.vectors[own[:count]].mean(axis=0))
        others = samples.strangers(key)
        tested = np.concatenate([own[MOST_SAMPLES:], others])
        parts.append((np.full(len(tested), len(enrolments)), tested, np.arange(len(tested)) < len(own) - MOST_SAMPLES))
        cosines.append(samples.vectors[tested] @ voiceprint)
        enrolments.append(Recording(key[0], key[1], key[2], [], None))
    enrolled, tested, same = (np.concatenate(column) for column in zip(*parts))
    tests = [
        Recording(campaign, person, split, [], None)
        for campaign, person, split in zip(samples.campaigns, samples.people, samples.splits)
    ]
    trials = Trials(enrolled, tested, same, np.ones(len(same), bool))
    return np.concatenate(cosines), trials, enrolments, tests


def weighted_eer(cosines, trials):
    return lambda weights: equal_error_rate(-cosines, ~trials.same, weights)


def sample_figures(samples, calibration, point, rng):
    figures = {}
    for count in range(1, MOST_SAMPLES + 1):
        cosines, trials, enrolments, tests = several_samples(samples, count)
        accepted = similarity(cosines, calibration) >= point
        figures[f"{count} samples" if count > 1 else "1 sample"] = {
            "people": len({enrolment.speaker for enrolment in enrolments}),
            "same_speaker_trials": int(trials.same.sum()),
            "different_speaker_trials": int((~trials.same).sum()),
            "eer": rounded(equal_error_rate(-cosines, ~trials.same)),
            "eer_interval_95": speaker_interval(weighted_eer(cosines, trials), trials, enrolments, tests, rng),
            "false_accepts": rounded(accepted[~trials.same].mean()),
            "false_rejects": rounded((~accepted[trials.same]).mean()),
        }
    one, three = (several_samples(samples, count) for count in (1, MOST_SAMPLES))
    eer_of_one, eer_of_three = (weighted_eer(cosines, trials) for cosines, trials, *_ in (one, three))
    figures["eer_of_3_less_that_of_1_interval_95"] = speaker_interval(
        lambda weights: eer_of_three(weights) - eer_of_one(weights), *one[1:], rng
    )
    return figures


def accepted_samples(vectors, calibration, limit):
    """The samples to keep: drops the one that agrees least with the mean of the others, until all agree. None unless
    more than half are left."""
    kept = list(range(len(vectors)))
    while len(kept) > 1:
        total = vectors[kept].sum(axis=0)
        agreements = [similarity(vectors[i] @ unit(total - vectors[i]), calibration) for i in kept]
        if min(agreements) >= limit:
            break
        kept.pop(int(np.argmin(agreements)))
    return kept if 2 * len(kept) > len(vectors) else None


def mixed_up(samples, calibration, rng):
    figures = {}
    for limit in AGREEMENT_LIMITS:
        whole, refused, noticed, missed, unsure = 0, 0, 0, 0, 0
        for key, own in samples.groups.items():
            for trio in list(combinations(own[:6], 3))[:8]:
                kept = accepted_samples(samples.vectors[list(trio)], calibration, limit)
                whole += kept is not None and len(kept) == 3
                refused += kept is None or len(kept) < 3
                stranger = rng.choice(samples.strangers(key))
                kept = accepted_samples(samples.vectors[[*trio[:2], stranger]], calibration, limit)
                noticed += kept == [0, 1]
                unsure += kept is None
                missed += kept is not None and 2 in kept
        trials = whole + refused
        figures[f"{limit:.1f}"] = {
            "trials": trials,
            "own_samples_all_accepted": rounded(whole / trials),
            "stranger_left_out": rounded(noticed / trials),
            "enrolment_refused_with_stranger": rounded(unsure / trials),
            "stranger_accepted": rounded(missed / trials),
        }
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--model", required=True)
    parser.add_argument("--entry", required=True)
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--vectors", help="embeddings of the folder's recordings by the same model, made before")
    parser.add_argument("--json", required=True)
    options = parser.parse_args()
    manifest = json.loads((Path(options.models) / "manifest.json").read_text())
    entry = next(model for model in manifest["models"] if model["id"] == options.entry)
    calibration, point = entry["calibration"], entry["operating_point"]
    if options.vectors:
        rows, vectors = json.loads((Path(options.folder) / "recordings.json").read_text()), np.load(options.vectors)
    else:
        judged = Judged(options.folder, options.model)
        rows, vectors = judged.rows, judged.vectors
    rng, figures = np.random.default_rng(20261123), {}
    for condition in CONDITIONS:
        samples = Samples(rows, vectors, condition)
        figures[condition] = {
            "samples": sample_figures(samples, calibration, point, rng),
            "mixed_up": mixed_up(samples, calibration, rng),
        }
        print(condition, json.dumps(figures[condition], indent=1), flush=True)
    Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
