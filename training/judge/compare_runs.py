# SPDX-License-Identifier: Apache-2.0
"""The benefit of parts of the material or the recipe: a row per run, compared with the first.

    python3 -m judge.compare_runs ALL.csv WITHOUT-CODECS.csv .. [--part judging] [--json RUNS.json]

The files come from `veravox evaluate --scores`, one per run, with any calibration. The differences of AUC to the first
file are on the same clips, with 95 % intervals over systems and sources. These intervals do not include the effect of
the seed: for that, compare two runs that differ in nothing else.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from judge.figures import (
    alike,
    area_under_curve,
    equal_error_rate,
    group_of,
    percentile_interval,
    rounded,
    unit_weights,
)
from judge.held_out import HeldOut, inside_pages, on_shared_pages
from judge.markdown import percent, table, three
from judge.modern import MODERN
from judge.originals import places_of, read_scores, same_clips

ROUNDS = 500


def figures_of_run(logits, clips):
    held = HeldOut(logits, clips, rounds=1)
    modern = on_shared_pages(held, lambda clip: clip["system"] in MODERN)
    pair = lambda rows, weights=None: {
        "eer": rounded(equal_error_rate(held.logits[rows], held.spoof[rows], weights)),
        "auc": rounded(area_under_curve(held.logits[rows], held.spoof[rows], weights)),
    }
    everything = np.arange(len(clips))
    return {
        "all": pair(everything),
        "alike": pair(everything, alike(held.clips, group_of)),
        "modern_same_pages": pair(modern) if len(modern) else None,
        "inside_a_page": inside_pages(held)["value"],
    }


def difference(first, other, clips):
    """AUC of the other run less that of the first, over the same drawn systems and sources."""
    spoof = np.array([clip["label"] == "spoof" for clip in clips])
    of = lambda weights: area_under_curve(other, spoof, weights) - area_under_curve(first, spoof, weights)
    drawn = percentile_interval([of(weights) for weights in unit_weights(clips, ROUNDS)])
    return {"value": rounded(of(np.ones(len(clips)))), "interval_95": rounded(drawn)}


def signed(value):
    return f"{value:+.3f}"


def run_table(runs):
    both = lambda entry: f"{percent(entry['eer'])} / {three(entry['auc'])}" if entry else ""
    rows = []
    for name, run in runs.items():
        change = run["difference"]
        low, high = change["interval_95"] if change else (None, None)
        rows.append(
            [
                name,
                both(run["all"]),
                both(run["alike"]),
                both(run["modern_same_pages"]),
                three(run["inside_a_page"]),
                f"{signed(change['value'])} ({signed(low)} to {signed(high)})" if change else "",
            ]
        )
    heads = ["run", "all: EER / AUC", "systems and sources alike", "modern, same pages", "mean AUC inside a page"]
    return table([*heads, "AUC less that of the first"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", nargs="+")
    parser.add_argument("--part", choices=("judging", "calibration", "all"), default="judging")
    parser.add_argument("--json")
    options = parser.parse_args()
    tables = same_clips([read_scores(path) for path in options.scores])
    places = places_of(tables[0][0], options.part)
    clips = [tables[0][0][place] for place in places]
    scored = {Path(path).stem: logits[places] for path, (_, logits) in zip(options.scores, tables)}
    first = next(iter(scored.values()))
    runs = {
        name: {
            **figures_of_run(logits, clips),
            "difference": None if logits is first else difference(first, logits, clips),
        }
        for name, logits in scored.items()
    }
    print(f"{len(clips)} clips.\n\n{run_table(runs)}")
    if options.json:
        Path(options.json).write_text(json.dumps(runs, indent=1) + "\n")


if __name__ == "__main__":
    main()
