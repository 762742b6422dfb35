# SPDX-License-Identifier: Apache-2.0
"""models/manifest.json: what the server knows of each model."""

import hashlib
import json
from pathlib import Path

MODELS = Path(__file__).resolve().parents[1]


def sha256_of(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def without_empty_fractions(value):
    """Whole numbers as `veravox models record` writes them: 1, not 1.0."""
    if isinstance(value, dict):
        return {name: without_empty_fractions(member) for name, member in value.items()}
    if isinstance(value, list):
        return [without_empty_fractions(member) for member in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def put_entry(entry, models=MODELS):
    """Replaces the entry of the same id where it stands, or adds it at the end. Its known answers are gone then: they come
    back with `veravox models record`."""
    path = Path(models) / "manifest.json"
    manifest = json.loads(path.read_text()) if path.exists() else {"version": 1, "models": []}
    ids = [known["id"] for known in manifest["models"]]
    if entry["id"] in ids:
        manifest["models"][ids.index(entry["id"])] = entry
    else:
        manifest["models"].append(entry)
    path.write_text(json.dumps(without_empty_fractions(manifest), indent=2, ensure_ascii=False) + "\n")


def put_metrics(model_id, metrics, models=MODELS):
    """Replaces the metrics of an entry and nothing else."""
    path = Path(models) / "manifest.json"
    manifest = json.loads(path.read_text())
    entry = next(known for known in manifest["models"] if known["id"] == model_id)
    entry["metrics"] = metrics
    path.write_text(json.dumps(without_empty_fractions(manifest), indent=2, ensure_ascii=False) + "\n")
