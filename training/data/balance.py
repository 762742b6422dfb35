# SPDX-License-Identifier: Apache-2.0
"""Drawing clips so that no condition of a recording is likelier in one class than in the other."""

from collections import defaultdict

import numpy as np

RATE_BANDS_HZ = [14000, 20000, 28000]  # below, between and above
MIN_LANGUAGE_SHARE = 0.02  # of both classes; rarer languages count as one
MAX_FACTOR = 6.0  # limit on how much more often a clip is drawn than without
ROUNDS = 30


def rate_band(clip):
    return int(np.searchsorted(RATE_BANDS_HZ, clip["rate_hz"], "right"))


def shares_of(keys, probabilities):
    shares = defaultdict(float)
    for key, probability in zip(keys, probabilities):
        shares[key] += probability
    return shares


def rake(keys_of_class, probabilities_of_class):
    """New probabilities for each class, under which every key has the same share in all classes, as far as MAX_FACTOR
    allows. `keys_of_class`: per class a list of columns, each with one key per clip. Keys missing in a class stay
    unchanged."""
    start = [np.asarray(probabilities, dtype=np.float64) for probabilities in probabilities_of_class]
    now = [probabilities.copy() for probabilities in start]
    columns = len(keys_of_class[0])
    targets = []
    for column in range(columns):
        shares = [shares_of(keys[column], probabilities) for keys, probabilities in zip(keys_of_class, start)]
        common = set.intersection(*(set(part) for part in shares))
        targets.append(
            {key: np.mean([part[key] / sum(part[name] for name in common) for part in shares]) for key in common}
        )
    for _ in range(ROUNDS):
        for column, target in enumerate(targets):
            for index, keys in enumerate(keys_of_class):
                shares = shares_of(keys[column], now[index])
                mass = sum(shares[key] for key in target)
                factors = [
                    target[key] * mass / shares[key] if key in target and shares[key] else 1.0 for key in keys[column]
                ]
                now[index] = np.clip(now[index] * factors, start[index] / MAX_FACTOR, start[index] * MAX_FACTOR)
                now[index] /= now[index].sum()
    return now


def balanced(humans, human_probabilities, spoofs, spoof_probabilities):
    """Both classes' probabilities, with the same shares of rates and languages."""
    classes = [(humans, human_probabilities), (spoofs, spoof_probabilities)]
    shares = [shares_of([clip["language"] for clip in clips], probabilities) for clips, probabilities in classes]
    known = {language for language in shares[0] if min(part[language] for part in shares) >= MIN_LANGUAGE_SHARE}
    columns = lambda clips: [
        [rate_band(clip) for clip in clips],
        [clip["language"] if clip["language"] in known else "other" for clip in clips],
    ]
    return rake([columns(clips) for clips, _ in classes], [probabilities for _, probabilities in classes])


class WeightedClips:
    def __init__(self, clips, probabilities):
        self._clips, self._until = clips, np.cumsum(probabilities)

    def draw(self, rng):
        return self._clips[
            min(int(np.searchsorted(self._until, rng.random() * self._until[-1], "right")), len(self._clips) - 1)
        ]
