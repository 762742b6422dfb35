# SPDX-License-Identifier: Apache-2.0
"""Vectors of AI-generated training crops inside a shipped detector, which profiles start from (docs/profiles.md).

    python3 -m export.generated_vectors --model-id ID --cache FOLDER --outputs NAME..

Writes ID.generated.bin beside the detector and `vectors` into its manifest entry. `--outputs` are the tensors before
the last sums of the graph. Needs the onnx and onnxruntime packages.
"""

import argparse
from pathlib import Path

from export import telemetry_off  # noqa: F401, to be first

# isort: split
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from data.corpus_cache import CorpusCache
from data.sampler import CropSampler, repeat_sound
from export.manifest_file import MODELS, get_entry, put_vectors, sha256_of
from features.native import FeatureExtractor
from features.recipe import SAMPLE_RATE_HZ, WINDOW_SAMPLES, WITH_CURVES

CROPS = 256
CROP_SECONDS = [3, 5]
LEVELS_DB = (-40, -1)  # of the peak
STEP = 0.05
SEED = 777


def session_with(path, outputs):
    model = onnx.load(path)
    for name in outputs:
        model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


class PublishedCrops(CropSampler):
    """Crops without codecs or augmentation, in 16 bits at any level; some begin or end in digital silence."""

    def _cut(self, clip, start, count, window_samples, rng):
        samples = self._cache.samples(clip, 0, start, count)
        if rng.random() < 0.15:
            silence = int(rng.uniform(0, 0.25) * count)
            samples = np.concatenate([np.zeros(silence, np.float32), samples[: count - silence]])
        if rng.random() < 0.1:
            samples[count - int(rng.uniform(0, 0.3) * count) :] = 0
        samples *= 10 ** (rng.uniform(*LEVELS_DB) / 20) / (np.abs(samples).max() + 1e-9)
        return repeat_sound(np.rint(samples * 32768).astype(np.float32) / 32768, window_samples)


def generated_crops(cache, crops):
    sampler, found = PublishedCrops(cache, SEED, 16, ["enhancement"]), []
    for index in range(crops):
        seconds = CROP_SECONDS[int(np.random.default_rng([SEED, index]).integers(len(CROP_SECONDS)))]
        made, labels = sampler.batch(index, seconds * SAMPLE_RATE_HZ)
        # Short ones become full windows as in serving.
        found += [repeat_sound(crop, WINDOW_SAMPLES) for crop, label in zip(made, labels) if label > 0.5]
        if len(found) >= crops:
            return found[:crops]
    raise ValueError(f"The cache gives {len(found)} AI-generated crops; {crops} are needed.")


def eight_bit_rows(session, calibration, outputs, crops):
    """[crops, numbers + 1]: vectors, each with its log-odds."""
    extractor, rows = FeatureExtractor(WITH_CURVES), []
    for crop in crops:
        features = extractor.compute(crop).ravel()[None].astype(np.float32)
        logit, *parts = session.run(["logit", *outputs], {"features": features})
        log_odds = calibration["scale"] * logit.ravel() + calibration["bias"]
        rows.append(np.concatenate([*(part.ravel() for part in parts), log_odds]))
    return np.clip(np.round(np.stack(rows) / STEP), -127, 127).astype(np.int8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model-id", required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--outputs", nargs="+", required=True)
    parser.add_argument("--models", default=MODELS, type=Path)
    options = parser.parse_args()
    entry = get_entry(options.model_id, options.models)
    session = session_with(options.models / entry["file"], options.outputs)
    rows = eight_bit_rows(
        session, entry["calibration"], options.outputs, generated_crops(CorpusCache(options.cache), CROPS)
    )
    path = options.models / f"{options.model_id}.generated.bin"
    path.write_bytes(rows.tobytes())
    put_vectors(
        options.model_id,
        {
            "outputs": options.outputs,
            "numbers": rows.shape[1] - 1,
            "generated": path.name,
            "generated_sha256": sha256_of(path),
            "step": STEP,
        },
        options.models,
    )
    print(f"{path}: {len(rows)} vectors, {(rows[:, -1] < 0).sum()} below 0.5")


if __name__ == "__main__":
    main()
