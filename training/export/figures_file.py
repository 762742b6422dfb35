# SPDX-License-Identifier: Apache-2.0
"""models/<id>.figures.json: a detector's figures that the server publishes, for which the manifest has no room."""

import json
from pathlib import Path

from export.manifest_file import MODELS


def share_of(entry):
    """A share of a report of `veravox evaluate`, with its interval over systems and sources."""
    return {"value": entry["value"], "interval_95": entry["interval_95_units"]}


def figures_file(held_out, thresholds, curve):
    """`held_out`: from judge.held_out; the others: from the report of `veravox evaluate` on the same clips."""
    return {
        "version": 1,
        "score_fingerprint": held_out["model_fingerprint"],
        "human_clips": held_out["human"],
        "generated_clips": held_out["generated"],
        "thresholds": [
            {
                "threshold": entry["threshold"],
                "target_fpr": entry["target_fpr"],
                "fpr": share_of(entry["fpr"]),
                "fnr": share_of(entry["fnr"]),
            }
            for entry in thresholds
        ],
        "det": curve,
    }


def put_figures(model_id, figures, models=MODELS):
    """One line for each threshold and each point."""
    members = [f"{json.dumps(name)}: {_lines(value)}" for name, value in figures.items()]
    text = "{\n" + ",\n".join(members) + "\n}\n"
    (Path(models) / f"{model_id}.figures.json").write_text(text)


def _lines(value):
    if not isinstance(value, list):
        return json.dumps(value)
    return "[\n" + ",\n".join(json.dumps(entry) for entry in value) + "\n]"
