# SPDX-License-Identifier: Apache-2.0
"""A detector's remaining knowledge about a recording apart from synthesis: how well a linear classifier on its
penultimate features tells the original rate, format and source of human clips.

    python3 -m judge.probe --originals FOLDER --model-id ID .. [--models FOLDER] [--clips 1500] [--terms open ..]

The features are the inputs of the last layer of each network in the model's file: of all networks, and of those on
bands and on each kind of curves alone. The first row is the control: mean and deviation of 256 bands.

Human clips of `valid`, the middle five seconds of each, resampled to 16 kHz as in the server. A mean of recalls over
the classes, so that chance is one over their number, by five folds; for rate and format all clips of a source are in
one fold, so that knowing the source does not help. Classes of fewer than 20 clips are left out. Needs the Python
packages onnx, onnxruntime and scikit-learn.
"""

from export import telemetry_off  # noqa: F401, to be first

# isort: split
import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
from onnxruntime import InferenceSession, SessionOptions
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from data.originals_cache import OriginalsCache
from data.prepare_originals import TERMS
from data.sampler import repeat_sound
from export.join_curves import PARTS
from export.manifest_file import MODELS, get_entry
from features.native import FeatureExtractor
from features.recipe import FEATURES, SAMPLE_RATE_HZ, WINDOW_SAMPLES
from judge.markdown import percent, table
from signals.channel_chain import resample

MIN_CLIPS, FOLDS, SEED = 20, 5, 20261122
BANDS, ALL = "bands", "all kinds"


class PenultimateFeatures:
    """Networks in a model's file."""

    def __init__(self, model_id, models=MODELS):
        model = onnx.load(str(Path(models, f"{model_id}.onnx")))
        numbers = {number.name: number for number in model.graph.initializer}
        # Only the last layer of a network returns a single number.
        heads = [node for node in model.graph.node if node.op_type == "Gemm" and numbers[node.input[1]].dims[0] == 1]
        self.names = list(dict.fromkeys(node.input[0] for node in heads))
        kinds = [name.partition("/")[0] for name in self.names]
        self.kinds = [kind if kind in PARTS else BANDS for kind in kinds]
        model.graph.output.extend(map(onnx.helper.make_empty_tensor_value_info, self.names))
        options = SessionOptions()
        options.intra_op_num_threads = 1
        self._session = InferenceSession(model.SerializeToString(), options)
        (own_input,) = self._session.get_inputs()
        self._input, self._axes = own_input.name, len(own_input.shape)
        self._extractor = FeatureExtractor(get_entry(model_id, models)["features"])

    def of(self, window):
        """[n] at 16 kHz -> one vector per network"""
        features = self._extractor.compute(window)
        batch = features.reshape((1,) * (self._axes - features.ndim) + features.shape)
        return [vector[0] for vector in self._session.run(self.names, {self._input: batch})]


def middle_window(samples):
    start = max(0, (len(samples) - WINDOW_SAMPLES) // 2)
    return repeat_sound(samples[start : start + WINDOW_SAMPLES], WINDOW_SAMPLES)


def recall_of(vectors, labels, groups=None):
    """(mean recall, how many classes) by folds; classes missing in a fold's training count as missed."""
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


def human_clips(cache, count, terms):
    clips = [
        clip
        for clip in cache.clips
        if clip["split"] == "valid"
        and clip["label"] == "bonafide"
        and clip["terms"] in terms
        and clip["samples"] >= clip["rate_hz"]
    ]
    return [clips[index] for index in np.random.default_rng(SEED).permutation(len(clips))[:count]]


def heard_window(cache, clip):
    return middle_window(resample(cache.samples(clip), clip["rate_hz"], SAMPLE_RATE_HZ, "server"))


def statistics_of(bands):
    """A recording's clues without a network: mean and deviation of each band."""
    return np.hstack([bands.mean(axis=1), bands.std(axis=1)])


def recalls(found):
    return [percent(recall) for recall, _ in found.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--originals", required=True)
    parser.add_argument("--model-id", nargs="+", required=True)
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--clips", type=int, default=1500)
    parser.add_argument("--terms", nargs="+", choices=TERMS, default=TERMS)
    options = parser.parse_args()
    cache = OriginalsCache(options.originals)
    clips = human_clips(cache, options.clips, options.terms)
    windows = [heard_window(cache, clip) for clip in clips]
    sources = [clip["repository"] for clip in clips]
    questions = {
        "rate": ([str(clip["rate_hz"]) for clip in clips], sources),
        "format": ([clip["original_format"].split("@")[0] for clip in clips], sources),
        "source": (sources, None),
    }
    answers = lambda vectors: {name: recall_of(vectors, *question) for name, question in questions.items()}
    extractor = FeatureExtractor(FEATURES)
    found = answers(np.stack([statistics_of(extractor.compute(window)) for window in windows]))
    heads = [f"{name} ({count} classes, chance {percent(1 / count)})" for name, (_, count) in found.items()]
    rows = [["no network", "statistics of bands", *recalls(found)]]
    for model_id in options.model_id:
        features = PenultimateFeatures(model_id, options.models)
        vectors = [np.stack(of_network) for of_network in zip(*map(features.of, windows))]
        kinds = list(dict.fromkeys(features.kinds))
        for kind in [ALL, *kinds] if len(kinds) > 1 else kinds:
            chosen = [own for own, own_kind in zip(vectors, features.kinds) if kind in (own_kind, ALL)]
            rows.append([model_id, kind, *recalls(answers(np.hstack(chosen)))])
    print(table(["", "networks on", *heads], rows))


if __name__ == "__main__":
    main()
