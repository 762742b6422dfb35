# SPDX-License-Identifier: Apache-2.0
"""models/manifest.json: what the server knows of each model."""

import hashlib
import json
from pathlib import Path

MODELS = Path(__file__).resolve().parents[2] / "models"


def sha256_of(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def without_empty_fractions(value):
    """Whole numbers as `veravox models record` writes them: 1, not 1.0."""
    if isinstance(value, dict):
        return {name: without_empty_fractions(member) for name, member in value.items()}
    if isinstance(value, list):
        return [without_empty_fractions(member) for member in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _entry_of(entries, model_id):
    return next(known for known in entries if known["id"] == model_id)


def get_entry(model_id, models=MODELS):
    return _entry_of(json.loads((Path(models) / "manifest.json").read_text())["models"], model_id)


def _edit(models, change):
    """Writes manifest.json in `models` again with what `change` did to its list of entries."""
    path = Path(models) / "manifest.json"
    manifest = json.loads(path.read_text()) if path.exists() else {"version": 1, "models": []}
    change(manifest["models"])
    path.write_text(json.dumps(without_empty_fractions(manifest), indent=2, ensure_ascii=False) + "\n")


def put_entry(entry, models=MODELS):
    """Replaces the entry of the same id where it stands, or adds it at the end. Its known answers are gone then: they come
    back with `veravox models record`."""
    def put(entries):
        ids = [known["id"] for known in entries]
        if entry["id"] in ids:
            entries[ids.index(entry["id"])] = entry
        else:
            entries.append(entry)

    _edit(models, put)


def put_metrics(model_id, metrics, models=MODELS):
    """Replaces the metrics of an entry and nothing else."""
    def put(entries):
        _entry_of(entries, model_id)["metrics"] = metrics

    _edit(models, put)
