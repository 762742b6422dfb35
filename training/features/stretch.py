# SPDX-License-Identifier: Apache-2.0
"""Features as with another hop or sampling rate."""

import math

import numpy as np

STRETCHED_SHARE = 0.5


def stretch_frequency(items, range_, rng):
    """Stretches half of the items, [items, bins, ..], in place, by up to a factor of exp(range_) either way: lines move
    as with another hop or sampling rate. Bins above the highest become 0."""
    bins = items.shape[1]
    for item in items:
        if rng.random() < STRETCHED_SHARE:
            places = np.arange(bins) * math.exp(rng.uniform(-range_, range_))
            below = np.minimum(places.astype(int), bins - 2)
            column = (bins, *[1] * (item.ndim - 1))
            part = (places - below).astype(np.float32).reshape(column)
            is_above = (places > bins - 1).reshape(column)
            item[:] = np.where(is_above, 0, item[below] * (1 - part) + item[below + 1] * part)
    return items
