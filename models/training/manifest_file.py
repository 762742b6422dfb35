# SPDX-License-Identifier: Apache-2.0
"""models/manifest.json: what the server knows of each model."""

import hashlib
import json
from pathlib import Path

MODELS = Path(__file__).resolve().parents[1]


def sha256_of(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def put_entry(entry, models=MODELS):
    """Replaces the entry of the same id where it stands, or adds it at the end."""
    path = Path(models) / "manifest.json"
    manifest = json.loads(path.read_text()) if path.exists() else {"version": 1, "models": []}
    ids = [known["id"] for known in manifest["models"]]
    if entry["id"] in ids:
        manifest["models"][ids.index(entry["id"])] = entry
    else:
        manifest["models"].append(entry)
    path.write_text(json.dumps(manifest, indent=2) + "\n")
