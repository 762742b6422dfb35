# SPDX-License-Identifier: Apache-2.0
"""Turn the weights of train.joint into the shipped file and its manifest entry.

    python3 -m export.joint --model-id ID --weights RUN/last.pt [--quantise CACHE] [--calibration CALIBRATION.json]
        [--operating-point 0.5] [--models FOLDER]

Writes ID.onnx into --models (default: models/) and adds or replaces the model's entry in its manifest.json. With
--quantise the convolutions over bands use 8 bits, with ranges from crops of CACHE. CALIBRATION.json comes from
judge/calibrate_detector.py; without it the calibration is the identity. `veravox models record` then adds the known
answers.
"""

import argparse
from pathlib import Path

import torch

from data.corpus_cache import CorpusCache
from export.manifest_file import add_entry_options, calibration_in, get_entry, new_entry, put_entry
from features.recipe import FEATURES, WINDOW_SAMPLES, WITH_CURVES, frames_of
from networks.joint import CURVE_NUMBERS, load_trained
from networks.onnx_export import write_onnx


def aliases_of(model_id, models):
    try:
        return get_entry(model_id, models)["aliases"]
    except StopIteration:
        return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--quantise", metavar="CACHE")
    add_entry_options(parser)
    options = parser.parse_args()
    path = Path(options.models) / f"{options.model_id}.onnx"
    numbers = FEATURES["bands"] * frames_of(WINDOW_SAMPLES) + sum(CURVE_NUMBERS)
    write_onnx(load_trained(options.weights), torch.zeros(1, numbers), str(path), "features", "logit")
    if options.quantise:
        from export.quantise import quantise_blocks, training_windows  # needs packages that nothing else here needs

        windows = training_windows(CorpusCache(options.quantise), WITH_CURVES, WINDOW_SAMPLES)
        quantise_blocks(path, windows)
    entry = new_entry(
        options.model_id,
        "detection",
        path,
        WITH_CURVES,
        "repeat_sound",
        "logit",
        calibration=calibration_in(options),
        operating_point=options.operating_point,
        metrics={},
    )
    put_entry({**entry, "aliases": aliases_of(options.model_id, options.models)}, options.models)
    print(f"Now record its known answers: veravox models record {options.model_id} --models-dir {options.models}")


if __name__ == "__main__":
    main()
