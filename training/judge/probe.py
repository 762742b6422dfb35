# SPDX-License-Identifier: Apache-2.0
"""What a detector still knows of a recording that is not synthesis: how well a linear classifier on its penultimate
features tells the original rate, the format and the source of human clips apart.

    python3 -m judge.probe --originals FOLDER --weights RUN/last.pt [--clips 1500] [--terms open ..]

Human clips of `valid`, the middle five seconds of each, brought to 16 kHz as the server does. A mean of recalls over
the classes, so that chance is one over their number, by five folds; for rate and format all clips of a source are in
one fold, so that knowing the source does not help. Classes of fewer than 20 clips are left out.
"""

import argparse
from collections import Counter

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from data.originals_cache import OriginalsCache
from data.prepare_originals import TERMS
from data.sampler import repeat_sound
from features.native import FeatureExtractor
from features.recipe import SAMPLE_RATE_HZ, WINDOW_SAMPLES
from networks.detector import load_trained, two_views
from signals.channel_chain import by_server

MIN_CLIPS, FOLDS, SEED = 20, 5, 20261122


@torch.no_grad()
def penultimate(network, features):
    """[2 * pooled] of [bands, frames]: what the head decides by."""
    views = two_views(torch.from_numpy(features)[None, None])
    pooled = network.pooling(network.bands_to_vector(network.blocks(network.stem(views))).squeeze(2))
    return network.head[0](pooled)[0].numpy()


def middle_window(samples):
    start = max(0, (len(samples) - WINDOW_SAMPLES) // 2)
    return repeat_sound(samples[start : start + WINDOW_SAMPLES], WINDOW_SAMPLES)


def recall_of(vectors, labels, groups=None):
    """(mean recall, how many classes) by folds; classes of which a fold's training knows nothing count as missed."""
    counts = Counter(labels)
    kept = np.array([counts[label] >= MIN_CLIPS for label in labels])
    vectors, labels = vectors[kept], np.asarray(labels)[kept]
    folds = (
        GroupKFold(FOLDS).split(vectors, labels, np.asarray(groups)[kept])
        if groups is not None
        else StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(vectors, labels)
    )
    said = np.empty_like(labels)
    for training, testing in folds:
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300, class_weight="balanced"))
        said[testing] = model.fit(vectors[training], labels[training]).predict(vectors[testing])
    return balanced_accuracy_score(labels, said), len(set(labels))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--originals", required=True)
    parser.add_argument("--weights", nargs="+", required=True)
    parser.add_argument("--clips", type=int, default=1500)
    parser.add_argument("--terms", nargs="+", choices=TERMS, default=TERMS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    cache = OriginalsCache(options.originals)
    clips = [
        clip
        for clip in cache.clips
        if clip["split"] == "valid"
        and clip["label"] == "bonafide"
        and clip["terms"] in options.terms
        and clip["samples"] >= clip["rate_hz"]
    ]
    chosen = np.random.default_rng(SEED).permutation(len(clips))[: options.clips]
    clips = [clips[index] for index in chosen]
    windows = []
    for clip in clips:
        samples = cache.samples(clip)
        windows.append(
            middle_window(
                samples if clip["rate_hz"] == SAMPLE_RATE_HZ else by_server(samples, clip["rate_hz"], SAMPLE_RATE_HZ)
            )
        )
    sources = [clip["repository"] for clip in clips]
    questions = {
        "rate": ([str(clip["rate_hz"]) for clip in clips], sources),
        "format": ([clip["original_format"].split("@")[0] for clip in clips], sources),
        "source": (sources, None),
    }
    for weights in options.weights:
        network, recipe = load_trained(weights)
        extractor = FeatureExtractor(recipe)
        vectors = np.stack([penultimate(network.eval(), extractor.compute(window)) for window in windows])
        for name, (labels, groups) in questions.items():
            recall, classes = recall_of(vectors, labels, groups)
            print(f"{weights}: {name} {100 * recall:.1f} % of {classes} classes (chance {100 / classes:.1f} %)")


if __name__ == "__main__":
    main()
