# SPDX-License-Identifier: Apache-2.0
"""Writes the stretches that test/analysis/contrasts.test.ts compares with: test/reference/stretches.json.

    python3 test/reference/stretches.py

Recordings are drawn at random: log-odds of windows of 5 s side by side, and of windows of 2.5 s at steps of a second
near high ones. Everything is computed anew with NumPy, on all candidates at once, without our own code.
"""

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).resolve().parent / "stretches.json"
PRIOR = np.array([-4.2, -3.6, -3.2, -2.8, -2.5, -2.2, -1.9, -1.6, -1.2, -0.6])
LENGTHS_S = np.array([1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 10, 12, 15, 20])
USUAL_SHARE, SHARE_OF_LOG_ODDS = 0.9, 0.3
MIN_CLEAREST, MIN_THROUGHOUT = 4.2, 4.4
USUAL_HEIGHT, USUAL_WEIGHT, MIN_GAIN, MIN_ABOVE = 5.5, 1.0, 2.0, 1.0
MIN_ABOVE_OTHERS = 2.0
GAP_S, MOST_IN_GROUP = 1.0, 60


def usual(log_odds):
    ordered = np.sort(np.concatenate([log_odds, PRIOR]))
    return ordered[int(USUAL_SHARE * len(ordered))]


def fits(start, end, above):
    hot = above > MIN_ABOVE
    if not hot.any():
        return []
    begins = np.unique(np.concatenate([np.arange(a, b, 0.5) for a, b in zip(start[hot], end[hot], strict=True)]))
    first, length = (grid.ravel() for grid in np.meshgrid(begins, LENGTHS_S, indexing="ij"))
    last = first + length
    inside = np.minimum(end, last[:, None]) - np.maximum(start, first[:, None])
    share = np.clip(inside, 0, None) / (end - start)
    allowed = np.ones(len(first), bool)
    rest = above.copy()
    found = []
    while True:
        product, squares = share @ rest, (share**2).sum(1)
        height = np.maximum(0, (product + USUAL_WEIGHT * USUAL_HEIGHT) / (squares + USUAL_WEIGHT))
        gain = 2 * height * product - height**2 * squares - USUAL_WEIGHT * (height - USUAL_HEIGHT) ** 2
        gain[~allowed] = -np.inf
        best = int(np.argmax(gain))
        if gain[best] < MIN_GAIN:
            return found
        touched = share[best] > 0
        found.append(
            {
                "start": first[best],
                "end": last[best],
                "mean": (share[best] @ above) / share[best].sum(),
                "clearest": np.sort(above[touched])[-2:].mean(),
            }
        )
        rest = rest - height[best] * share[best]
        allowed &= (last <= first[best]) | (first >= last[best])


def stretches(windows, closer):
    starts, log_odds = np.array(windows).T
    everything = np.sort(np.concatenate([log_odds, PRIOR]))
    centre, level = everything[len(everything) // 2], usual(log_odds)
    seen = [(s, s + 2.5, x - centre) for s, x in closer]
    far = [(s, s + 5, x - centre) for s, x in windows if not any(c < s + 5 and c + 2.5 > s for c, _ in closer)]
    seen = sorted(seen + far)
    groups, until = [], -np.inf
    for one in seen:
        if groups and one[0] <= until and len(groups[-1]) < MOST_IN_GROUP:
            groups[-1].append(one)
        else:
            groups.append([one])
        until = max(until, one[1])
    found = [fit for group in groups for fit in fits(*np.array(group).T)]
    found.sort(key=lambda fit: -fit["mean"])
    outside, clear, throughout, level_outside = np.ones(len(starts), bool), set(), 0, level
    for i, fit in enumerate(found):
        outside &= (starts >= fit["end"]) | (starts + 5 <= fit["start"])
        if (1 + SHARE_OF_LOG_ODDS) * (centre + fit["clearest"]) - level >= MIN_CLEAREST:
            clear.add(i)
        if (1 + SHARE_OF_LOG_ODDS) * (centre + fit["mean"]) - usual(log_odds[outside]) >= MIN_THROUGHOUT:
            clear |= set(range(i + 1))
            throughout, level_outside = i + 1, min(level, usual(log_odds[outside]))
    kept = [{**found[i], "usual": level_outside if i < throughout else level} for i in clear]
    inside = np.zeros(len(starts), bool)
    for fit in kept:
        inside |= np.minimum(starts + 5, fit["end"]) - np.maximum(starts, fit["start"]) >= 2.5
    others = np.sort(log_odds[~inside])
    median = others[len(others) // 2] if len(others) else np.inf
    kept = [fit for fit in kept if centre + fit["mean"] - median >= MIN_ABOVE_OTHERS]
    joined = []
    for fit in sorted(kept, key=lambda fit: fit["start"]):
        if joined and fit["start"] - joined[-1]["end"] <= GAP_S:
            joined[-1]["end"] = max(joined[-1]["end"], fit["end"])
            joined[-1]["clearest"] = max(joined[-1]["clearest"], fit["clearest"])
            joined[-1]["usual"] = min(joined[-1]["usual"], fit["usual"])
        else:
            joined.append(dict(fit))
    return [
        {
            "start": fit["start"],
            "end": min(fit["end"], max(end for _, end, _ in seen)),
            "score": 1 / (1 + np.exp(-(centre + fit["clearest"]))),
            "strength": centre + fit["clearest"] - fit["usual"],
        }
        for fit in joined
    ]


def recording(random):
    """Human speech with some generated parts: from none to most of it."""
    length = int(random.choice([4, 12, 36, 150]))
    generated = np.zeros(5 * length * 10, bool)
    for _ in range(random.integers(0, 4)):
        begin = random.integers(0, len(generated))
        generated[begin : begin + int(10 * random.choice([1, 2, 3, 5, 12, 60]))] = True
    if random.random() < 0.15:
        generated[:] = True
    level, spread = random.uniform(-4, -1), random.uniform(0.4, 1.3)

    def log_odds(start, length_s):
        share = generated[int(start * 10) : int((start + length_s) * 10)].mean()
        return float(np.clip(round(level + 6 * share + spread * random.standard_normal(), 3), -8, 8))

    windows = [(5.0 * i, log_odds(5.0 * i, 5)) for i in range(length)]
    steps = {s for start, x in windows if x > level + 1.2 for s in range(max(0, int(start) - 3), int(start) + 6)}
    return windows, [(float(s), log_odds(s, 2.5)) for s in sorted(steps) if s + 2.5 <= 5 * length]


def main():
    random = np.random.default_rng(38)
    cases = []
    for _ in range(60):
        windows, closer = recording(random)
        cases.append({"windows": windows, "closer": closer, "stretches": stretches(windows, closer) if closer else []})
    FILE.write_text(json.dumps(cases, separators=(",", ":")) + "\n")
    print([len(case["stretches"]) for case in cases])


if __name__ == "__main__":
    main()
