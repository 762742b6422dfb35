# SPDX-License-Identifier: Apache-2.0
"""Figures of a detector: scores rise with "spoof"; `spoof` is a boolean array; weights default to one per clip."""

import numpy as np


def error_rates(scores, spoof, weights=None):
    """False-alarm rate (bona fide taken for spoof) and miss rate at every distinct threshold, rising."""
    weights = np.ones(len(scores)) if weights is None else weights
    order = np.argsort(scores, kind="stable")
    ordered, spoof, weights = scores[order], spoof[order], weights[order]
    last_of_ties = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    missed = np.cumsum(weights * spoof)[last_of_ties]
    passed = np.cumsum(weights * ~spoof)[last_of_ties]
    return (np.append(1.0, 1 - passed / passed[-1]), np.append(0.0, missed / missed[-1]),
            np.append(-np.inf, ordered[last_of_ties]))


def equal_error_point(scores, spoof, weights=None):
    """(EER, threshold): where the false-alarm and miss rates cross, interpolated between thresholds."""
    alarms, misses, thresholds = error_rates(scores, spoof, weights)
    after = int(np.argmax(misses >= alarms))
    before = max(after - 1, 0)
    gap_before, gap_after = alarms[before] - misses[before], misses[after] - alarms[after]
    share = gap_before / (gap_before + gap_after) if gap_before + gap_after > 0 else 0.0
    rate = misses[before] + share * (misses[after] - misses[before])
    return float(rate), float(thresholds[after])


def equal_error_rate(scores, spoof, weights=None):
    return equal_error_point(scores, spoof, weights)[0]


def area_under_curve(scores, spoof, weights=None):
    alarms, misses, _ = error_rates(scores, spoof, weights)
    detected, widths = 1 - misses, -np.diff(alarms)
    return float(np.sum((detected[1:] + detected[:-1]) / 2 * widths))


def bootstrap_interval(figure, count, groups, rng, rounds=500):
    """95 % interval of figure(indices) when whole groups (systems, speakers) are drawn again: clips of one group are
    not independent. `groups` names each clip's group; rounds in which the figure is undefined are left out."""
    names, members = np.unique(groups, return_inverse=True)
    by_group = [np.flatnonzero(members == group) for group in range(len(names))]
    assert len(groups) == count
    values = []
    for _ in range(rounds):
        indices = np.concatenate([by_group[group] for group in rng.integers(len(names), size=len(names))])
        value = figure(indices)
        if value is not None and np.isfinite(value):
            values.append(value)
    return [float(value) for value in np.percentile(values, [2.5, 97.5])]
