# SPDX-License-Identifier: Apache-2.0
"""Turn the trained weights of the speaker model into the shipped file and its manifest entry.

    python3 -m export.speaker --model-id ID --weights RUN/last.pt [--figures FIGURES.json] [--models FOLDER]

Writes <id>.onnx into --models (default: models/) and adds or replaces the model's entry in its manifest.json.
FIGURES.json comes from judge/speaker_originals.py and has calibration and operating point. `veravox models record` then
adds the known answers.
"""

import argparse
import json
from pathlib import Path

import torch

from export.manifest_file import MODELS, new_entry, put_entry
from features.recipe import WINDOW_SAMPLES, frames_of
from features.speaker_recipe import FEATURES
from networks.speaker import SpeakerNetwork, export_onnx


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model-id", required=True)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--figures")
    parser.add_argument("--models", default=MODELS)
    options = parser.parse_args()
    model = SpeakerNetwork(FEATURES["bands"])
    model.load_state_dict(torch.load(options.weights))
    onnx_path = Path(options.models) / f"{options.model_id}.onnx"
    export_onnx(model, str(onnx_path), FEATURES["bands"], frames_of(WINDOW_SAMPLES))
    figures = json.loads(Path(options.figures).read_text()) if options.figures else {}
    entry = new_entry(
        options.model_id,
        "speaker",
        onnx_path,
        FEATURES,
        "repeat",
        "embedding",
        # similarity = sigmoid(scale * cosine + bias)
        calibration=figures.get("calibration", {"scale": 10.0, "bias": -5.0}),
        operating_point=figures.get("operating_point", 0.5),
        metrics=figures.get("metrics", {}),
    )
    put_entry(entry, options.models)
    print(f"Now record its known answers: veravox models record {options.model_id} --models-dir {options.models}")


if __name__ == "__main__":
    main()
