# SPDX-License-Identifier: Apache-2.0
"""Turn trained weights into the shipped file and its manifest entry.

    export_detector.py --weights RUN/best.pt [--figures FIGURES.json]

Writes models/<id>.onnx and puts or replaces the model's entry in models/manifest.json. FIGURES.json is what
evaluate_detector.py wrote: it carries the calibration, which is the identity without it.
"""

import argparse
import hashlib
import json
from pathlib import Path

import torch

from detector import Detector, export_onnx
from recipe import FEATURES, WINDOW_SAMPLES, frames_of

MODEL_ID = "apollo-4-5-2026-03-26"
MODELS = Path(__file__).resolve().parents[1]


def manifest_entry(onnx_path, figures):
    return {
        "id": MODEL_ID, "aliases": [], "task": "detection", "file": onnx_path.name,
        "sha256": hashlib.sha256(onnx_path.read_bytes()).hexdigest(), "licence": "Apache-2.0",
        "sample_rate_hz": 16000, "window_samples": WINDOW_SAMPLES, "hop_samples": WINDOW_SAMPLES,
        "short_window": "repeat", "features": FEATURES,
        "input": {"name": "features", "shape": ["batch", 1, FEATURES["bands"], frames_of(WINDOW_SAMPLES)]},
        "output": {"name": "logit", "kind": "logit", "index": 0},
        "calibration": figures.get("calibration", {"scale": 1.0, "bias": 0.0}), "operating_point": 0.5,
        "metrics": figures.get("metrics", {}),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--figures")
    options = parser.parse_args()
    model = Detector(FEATURES["bands"])
    model.load_state_dict(torch.load(options.weights))
    onnx_path = MODELS / f"{MODEL_ID}.onnx"
    export_onnx(model, str(onnx_path), FEATURES["bands"], frames_of(WINDOW_SAMPLES))
    figures = json.loads(Path(options.figures).read_text()) if options.figures else {}
    manifest_path = MODELS / "manifest.json"
    manifest = json.loads(manifest_path.read_text()) if manifest_path.exists() else {"version": 1, "models": []}
    others = [entry for entry in manifest["models"] if entry["id"] != MODEL_ID]
    manifest["models"] = [manifest_entry(onnx_path, figures), *others]
    manifest_path.write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
