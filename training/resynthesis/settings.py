# SPDX-License-Identifier: Apache-2.0
"""settings/NAME.json: description of a system, with dimensions and duration per size (`cpu`, `gpu`)."""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "settings"
SIZES = ("cpu", "gpu")


def names():
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name, size):
    """{"name", "size", "kind", "frames", "network", "discriminators", "training"}; the values under the size are added
    to the common ones."""
    described = json.loads((FOLDER / f"{name}.json").read_text())
    own = described.pop(size)
    for other in SIZES:
        described.pop(other, None)
    described["network"] = {**described.get("network", {}), **own.get("network", {})}
    if "head" in described["network"] and "head" in own:
        described["network"]["head"] = {**described["network"]["head"], **own["head"]}
    return {
        "name": name,
        "size": size,
        "kind": described["kind"],
        "frames": described["frames"],
        "network": described["network"],
        "discriminators": own.get("discriminators"),
        "training": own["training"],
    }
