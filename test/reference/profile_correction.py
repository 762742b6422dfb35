# SPDX-License-Identifier: Apache-2.0
"""A profile's correction by NumPy, for test/analysis/profiles.test.ts.

Reads {"genuine": [[..], ..], "scores": [..], "generated": [[..], ..], "new": [[..], ..], "new_scores": [..]} from
standard input and writes {"from", "to", "strength", "adjusted"}.
"""

import json
import sys

import numpy as np

given = json.load(sys.stdin)
genuine, generated, new = (np.array(given[name]) for name in ("genuine", "generated", "new"))
logit = np.log(np.array(given["scores"])) - np.log1p(-np.array(given["scores"]))
origin = generated.mean(0)
centred = genuine - origin
total = centred.sum(0)
own = np.array([x @ (total - x) / np.linalg.norm(total - x) for x in centred])
direction = total / np.linalg.norm(total)
others = (generated - origin) @ direction
start = np.quantile(others, 0.85)
full = max(np.median(own), start + others.std() / 2)
share = np.clip((own - start) / (full - start), 0, 1)
strength = min(6, max(0, *np.where(logit > -0.3, (logit + 0.3) / np.maximum(share, 0.1), 0)))
scores = np.array(given["new_scores"])
near = np.clip(((new - origin) @ direction - start) / (full - start), 0, 1)
adjusted = 1 / (1 + np.exp(-(np.log(scores / (1 - scores)) - strength * near)))
offset = origin @ direction
json.dump(
    {"from": start + offset, "to": full + offset, "strength": strength, "adjusted": adjusted.tolist()}, sys.stdout
)
