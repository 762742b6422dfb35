# SPDX-License-Identifier: Apache-2.0
"""Figures of a detector: scores rise with "spoof"; `spoof` is a boolean array; weights default to one per clip."""

from collections import defaultdict

import numpy as np

MIN_GROUPS = 5  # means over fewer groups and intervals over fewer units are meaningless


def error_rates(scores, spoof, weights=None):
    """False-alarm rate (bona fide taken for spoof) and miss rate at every distinct threshold, rising."""
    weights = np.ones(len(scores)) if weights is None else weights
    order = np.argsort(scores, kind="stable")
    ordered, spoof, weights = scores[order], spoof[order], weights[order]
    last_of_ties = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    missed = np.cumsum(weights * spoof)[last_of_ties]
    passed = np.cumsum(weights * ~spoof)[last_of_ties]
    return (
        np.append(1.0, 1 - passed / passed[-1]),
        np.append(0.0, missed / missed[-1]),
        np.append(-np.inf, ordered[last_of_ties]),
    )


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
    """95 % interval of figure(indices) by resampling whole groups (systems, speakers): clips of one group are not
    independent. `groups` names each clip's group; rounds with an undefined figure are left out."""
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


def percentile_interval(values):
    """The middle 95 % of a bootstrap's values, ignoring undefined ones (NaN); None if all are."""
    values = np.asarray(values, float)
    values = values[np.isfinite(values)]
    return [float(value) for value in np.percentile(values, [2.5, 97.5])] if len(values) else None


def unit_weights(clips, rounds=500, seed=1, unit_of=None):
    """[rounds, clips]: how often a bootstrap over units draws each clip. Draws as many units as a class has, by default
    systems of generated clips and sources of human ones."""
    rng, weights = np.random.default_rng(seed), np.zeros((rounds, len(clips)))
    units = np.array([f"{clip['label']}/{(unit_of or group_of)(clip)}" for clip in clips])
    for label in ("bonafide", "spoof"):
        rows = np.flatnonzero([clip["label"] == label for clip in clips])
        if len(rows) == 0:
            continue
        names, members = np.unique(units[rows], return_inverse=True)
        draws = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=rounds)
        weights[:, rows] = draws[:, members]
    return weights


def calibration_error(probabilities, spoof, bins=10, weights=None):
    """Expected calibration error, by default with both classes weighing the same; `weights` sum to 1."""
    if weights is None:
        weights = np.where(spoof, 0.5 / spoof.sum(), 0.5 / (~spoof).sum())
    places = np.minimum((probabilities * bins).astype(int), bins - 1)
    gaps = np.bincount(places, weights * (probabilities - spoof), bins)
    return float(np.abs(gaps).sum())


def group_of(clip):
    """The unit of variation: the system of a spoof, the repository of a human clip."""
    return f"spoof/{clip['system']}" if clip["label"] == "spoof" else f"bonafide/{clip['source']}"


def speaker_of(clip):
    return group_of(clip) if clip["label"] == "spoof" else f"bonafide/{clip['source']}/{clip['speaker']}"


def alike(clips, key):
    """Weights that make all groups of a class count the same."""
    groups = [key(clip) for clip in clips]
    counts = defaultdict(int)
    for group in groups:
        counts[group] += 1
    return np.array([1 / counts[group] for group in groups])


def fit_scale(logits, spoof, weights):
    """Platt's logistic regression by Newton steps, both classes weighing the same; returns (scale, bias)."""
    weights = np.where(spoof, weights / weights[spoof].sum(), weights / weights[~spoof].sum())
    design, parameters = np.stack([logits, np.ones_like(logits)], axis=1), np.array([1.0, 0.0])
    for _ in range(50):
        predicted = 1 / (1 + np.exp(-design @ parameters))
        gradient = design.T @ (weights * (predicted - spoof))
        curvature = (design * (weights * predicted * (1 - predicted))[:, None]).T @ design + 1e-9 * np.eye(2)
        parameters -= np.linalg.solve(curvature, gradient)
    return parameters


def rounded(value, digits=4):
    return [round(v, digits) for v in value] if isinstance(value, list) else round(float(value), digits)


def error_figures(scores, clips):
    """EER and AUC over clips, and the EER with systems and sources weighted alike."""
    spoof = np.array([clip["label"] == "spoof" for clip in clips])
    return {
        "eer": equal_error_rate(scores, spoof),
        "auc": area_under_curve(scores, spoof),
        "eer_groups_alike": equal_error_rate(scores, spoof, alike(clips, group_of)),
    }


def with_interval(figure, clips, spoof, rng):
    def of(indices):
        return figure(indices) if spoof[indices].any() and not spoof[indices].all() else None

    groups = np.array([speaker_of(clip) for clip in clips])
    return {
        "value": rounded(figure(np.arange(len(clips)))),
        "interval_95": rounded(bootstrap_interval(of, len(clips), groups, rng)),
    }


def overall(scores, clips, rng):
    spoof, weights = np.array([clip["label"] == "spoof" for clip in clips]), alike(clips, group_of)
    figures = {
        "eer": lambda i: equal_error_rate(scores[i], spoof[i]),
        "auc": lambda i: area_under_curve(scores[i], spoof[i]),
        "eer_groups_alike": lambda i: equal_error_rate(scores[i], spoof[i], weights[i]),
        "auc_groups_alike": lambda i: area_under_curve(scores[i], spoof[i], weights[i]),
    }
    return {
        "bonafide_clips": int(np.sum(~spoof)),
        "spoof_clips": int(spoof.sum()),
        **{name: with_interval(figure, clips, spoof, rng) for name, figure in figures.items()},
    }


def inside_sources(scores, clips):
    """AUC of the human against the generated clips of one repository, and the mean over such repositories."""
    by_source = defaultdict(lambda: ([], []))
    for value, clip in zip(scores, clips):
        by_source[clip["source"]][clip["label"] == "spoof"].append(value)
    each = {
        source: rounded(area_under_curve(np.array(human + spoof), np.arange(len(human + spoof)) >= len(human)))
        for source, (human, spoof) in sorted(by_source.items())
        if human and spoof
    }
    return {"mean": rounded(np.mean(list(each.values()))) if each else None, "sources": each}
