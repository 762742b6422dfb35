# SPDX-License-Identifier: Apache-2.0
"""The population stability index by NumPy, for test/console/score-drift.test.ts.

Reads {"pairs": [[reference scores, current scores], ...]} from standard input and writes {"indices": [...], "above":
share}: the index of each pair, and how often equal distributions exceed 0.1 by chance alone.
"""

import json
import sys

import numpy as np

EDGES = np.array([-7.0, -5.0, -3.0, -1.0, 1.0, 3.0, 5.0, 7.0])
BINS = len(EDGES) + 1


def counts_of(scores):
    with np.errstate(divide="ignore"):
        logits = np.log(np.array(scores) / (1 - np.array(scores)))
    return np.bincount(np.searchsorted(EDGES, logits, side="right"), minlength=BINS)


def index_of(reference, current):
    used = (reference + current) > 0
    p, q = reference[used] + 0.5, current[used] + 0.5
    p, q = p / p.sum(), q / q.sum()
    return float(np.sum((q - p) * np.log(q / p)))


def share_above(limit, reference_files, current_files, draws=4000):
    """The worst case: scores spread evenly over all bins."""
    random = np.random.default_rng(7)
    even = np.full(BINS, 1 / BINS)
    pairs = zip(
        random.multinomial(reference_files, even, draws),
        random.multinomial(current_files, even, draws),
        strict=True,
    )
    return float(np.mean([index_of(*pair) > limit for pair in pairs]))


given = json.load(sys.stdin)
indices = [index_of(counts_of(reference), counts_of(current)) for reference, current in given["pairs"]]
above = share_above(0.1, given["reference_files"], given["current_files"])
json.dump({"indices": indices, "above": above}, sys.stdout)
