# SPDX-License-Identifier: Apache-2.0
"""models/manifest.json: the server's knowledge of each model."""

import hashlib
import json
import re
from decimal import Decimal
from pathlib import Path

from features.recipe import SAMPLE_RATE_HZ, WINDOW_SAMPLES, frames_of
from window_curves.curves import numbers_of_curves

MODELS = Path(__file__).resolve().parents[2] / "models"


def sha256_of(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


IDENTITY = {"scale": 1.0, "bias": 0.0}


def add_entry_options(parser):
    """Fields that every export of a detector fills; calibration_in() reads the table."""
    parser.add_argument("--calibration")
    parser.add_argument(
        "--operating-point", type=float, default=0.5, help="the score from which voice identity refuses a voice"
    )
    parser.add_argument("--model-id", required=True)
    parser.add_argument("--models", default=MODELS)


def calibration_in(options):
    """From CALIBRATION.json; the identity by default."""
    return json.loads(Path(options.calibration).read_text()) if options.calibration else IDENTITY


def without_empty_fractions(value):
    """Whole numbers as `veravox models record` writes them: 1, not 1.0."""
    if isinstance(value, dict):
        return {name: without_empty_fractions(member) for name, member in value.items()}
    if isinstance(value, list):
        return [without_empty_fractions(member) for member in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def new_entry(model_id, task, onnx_path, features, short_window, output, **measured):
    """An entry for a file that takes one window of `features` per item. `output`: name and kind of the file's output;
    `measured`: calibration, operating_point and metrics."""
    shape = [1, features["bands"], frames_of(WINDOW_SAMPLES)]
    if following := numbers_of_curves(features):
        shape = [shape[1] * shape[2] + following]
    return {
        "id": model_id,
        "aliases": [],
        "task": task,
        "file": onnx_path.name,
        "sha256": sha256_of(onnx_path),
        "licence": "Apache-2.0",
        "sample_rate_hz": SAMPLE_RATE_HZ,
        "window_samples": WINDOW_SAMPLES,
        "hop_samples": WINDOW_SAMPLES,
        "short_window": short_window,
        "features": features,
        "input": {"name": "features", "shape": ["batch", *shape]},
        "output": {"name": output, "kind": output, "index": 0},
        **measured,
    }


def _entry_of(entries, model_id):
    return next(known for known in entries if known["id"] == model_id)


def get_entries(models=MODELS):
    return json.loads((Path(models) / "manifest.json").read_text())["models"]


def get_entry(model_id, models=MODELS):
    return _entry_of(get_entries(models), model_id)


def _edit(models, change):
    """Rewrites manifest.json in `models` after `change` edited its list of entries."""
    path = Path(models) / "manifest.json"
    manifest = json.loads(path.read_text()) if path.exists() else {"version": 1, "models": []}
    change(manifest["models"])
    text = json.dumps(without_empty_fractions(manifest), indent=2, ensure_ascii=False)
    # 0.000068 and 1e-7, not 6.8e-05 and 1e-07: also as `veravox models record` writes them.
    text = re.sub(r"\b\d(\.\d+)?e-0[56]\b", lambda number: f"{Decimal(number[0]):f}", text)
    path.write_text(re.sub(r"(?<=\de-)0(?=\d\b)", "", text) + "\n")


def put_entry(entry, models=MODELS):
    """Replaces the entry of the same id in place, or appends it. This drops its known answers: `veravox models record`
    restores them."""

    def put(entries):
        ids = [known["id"] for known in entries]
        if entry["id"] in ids:
            entries[ids.index(entry["id"])] = entry
        else:
            entries.append(entry)

    _edit(models, put)


def put_gpu(model_id, gpu, models=MODELS):
    """Names a twin for GPUs in an entry, and the file it was made from. Its known answers and their tolerances stay for
    `veravox models record`; those of the model itself need no tolerance for GPUs."""

    def put(entries):
        entry = _entry_of(entries, model_id)
        entry.update(sha256=gpu["source_sha256"], gpu={**entry.get("gpu", {}), **gpu})
        for answer in entry.get("known_answers", []):
            answer.pop("cuda_tolerance", None)

    _edit(models, put)


def put_metrics(model_id, metrics, models=MODELS):
    """Replaces only the metrics of an entry."""
    _put_member(model_id, "metrics", metrics, models)


def put_abstention(model_id, abstention, models=MODELS):
    """Sets only the limits for uncertain verdicts in an entry."""
    _put_member(model_id, "abstention", abstention, models)


def put_vectors(model_id, vectors, models=MODELS):
    """Sets only the vectors that profiles start from in an entry."""
    _put_member(model_id, "vectors", vectors, models)


def put_codec_offsets(model_id, tables, models=MODELS):
    """Replaces only the offsets by codec and bit rate in an entry's calibration."""
    calibration = get_entry(model_id, models)["calibration"]
    _put_member(model_id, "calibration", {**calibration, "codecs": tables}, models)


def _put_member(model_id, name, value, models):
    def put(entries):
        _entry_of(entries, model_id)[name] = value

    _edit(models, put)
