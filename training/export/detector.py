# SPDX-License-Identifier: Apache-2.0
"""Turn trained weights into the shipped file and its manifest entry.

    python3 -m export.detector --model-id ID --weights RUN/last.pt ... [--shares 2 1 ..] [--quantise CACHE]
        [--calibration CALIBRATION.json] [--operating-point 0.5] [--models FOLDER]

Writes <id>.onnx into --models (default: models/) and adds or replaces the model's entry in its manifest.json. Several
weights become one file that answers with the mean of their logits, weighted by --shares. With --quantise most
convolutions use 8 bits, with ranges from crops of CACHE. CALIBRATION.json comes from judge/calibrate_detector.py;
without it the calibration is the identity. `veravox models record` then adds the known answers.
"""

import argparse
from pathlib import Path

from data.corpus_cache import CorpusCache
from export.manifest_file import add_entry_options, calibration_in, new_entry, put_entry
from features.recipe import FEATURES, WINDOW_SAMPLES, frames_of
from networks.detector import export_onnx, load_trained
from networks.ensemble import Ensemble


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", nargs="+", required=True)
    parser.add_argument("--shares", nargs="+", type=float, help="how much each of several weights counts in the mean")
    parser.add_argument("--quantise", metavar="CACHE")
    add_entry_options(parser)
    options = parser.parse_args()
    trained = [load_trained(weights) for weights in options.weights]
    model = Ensemble(trained, options.shares) if len(trained) > 1 else trained[0]
    onnx_path = Path(options.models) / f"{options.model_id}.onnx"
    export_onnx(model, str(onnx_path), FEATURES["bands"], frames_of(WINDOW_SAMPLES))
    if options.quantise:
        from export.quantise import quantise_blocks, training_windows  # needs packages that nothing else here needs

        quantise_blocks(onnx_path, training_windows(CorpusCache(options.quantise), FEATURES, WINDOW_SAMPLES))
    put_entry(
        new_entry(
            options.model_id,
            "detection",
            onnx_path,
            FEATURES,
            "repeat_sound",
            "logit",
            calibration=calibration_in(options),
            operating_point=options.operating_point,
            metrics={},
        ),
        options.models,
    )
    print(f"Now record its known answers: veravox models record {options.model_id} --models-dir {options.models}")


if __name__ == "__main__":
    main()
