# SPDX-License-Identifier: Apache-2.0
"""Moves of the same clips' scores and errors between clean and each condition of judge/make_conditions.py."""

from collections import defaultdict

import numpy as np

from judge.figures import equal_error_rate, group_of, percentile_interval, rounded, unit_weights
from judge.markdown import percent, table, with_interval

SMALL_SHIFT = 0.05


def by_condition(rows):
    """{condition: {clip: (row, score)}}, in the order of the list; rows without a score are left out."""
    conditions = defaultdict(dict)
    for row in rows:
        if row["score"]:
            conditions[row["condition"]][row["clip"]] = row, float(row["score"])
    return conditions


def stability(rows, threshold=0.5, rounds=500):
    """Per condition, over the clips that have a score both there and when clean: EER, errors at the threshold, the
    change of these errors from clean with a paired bootstrap over systems and sources, and the moves of scores."""
    conditions = by_condition(rows)
    if "clean" not in conditions:
        raise ValueError("no row of the list has the condition `clean`")
    return {name: _moved(conditions["clean"], scored, threshold, rounds) for name, scored in conditions.items()}


def _moved(clean, scored, threshold, rounds):
    names = [name for name in clean if name in scored]
    clips = [clean[name][0] for name in names]
    before, after = (np.array([of[name][1] for name in names]) for of in (clean, scored))
    spoof = np.array([clip["label"] == "spoof" for clip in clips])
    weights = unit_weights(clips, rounds)
    units = np.array([group_of(clip) for clip in clips])

    def errors(of_class):
        wrong_before, wrong_after = ((scores >= threshold) != spoof for scores in (before, after))
        drawn = weights[:, of_class]
        change = drawn @ (wrong_after.astype(float) - wrong_before)[of_class] / drawn.sum(axis=1)
        return {
            "clips": int(of_class.sum()),
            "units": len(set(units[of_class])),
            "clean": rounded(wrong_before[of_class].mean()),
            "value": rounded(wrong_after[of_class].mean()),
            "change": {
                "value": rounded((wrong_after.astype(float) - wrong_before)[of_class].mean()),
                "interval_95": rounded(percentile_interval(change)),
            },
            "mean_shift": rounded((after - before)[of_class].mean()),
        }

    shift = np.abs(after - before)
    return {
        "without_a_score": len(clean) - len(names),
        "eer": rounded(equal_error_rate(after, spoof)),
        "human_flagged": errors(~spoof),
        "generated_passing": errors(spoof),
        "mean_absolute_shift": rounded(shift.mean()),
        "largest_shift": rounded(shift.max()),
        "within_small_shift": rounded(np.mean(shift <= SMALL_SHIFT)),
        "verdicts_changed": rounded(np.mean((before >= threshold) != (after >= threshold))),
    }


def stability_table(conditions):
    points = lambda value: f"{100 * value:+.1f}"
    change = lambda errors: f"{percent(errors['value'])} ({with_interval(errors['change'], points)})"
    clean = conditions["clean"]
    rows = [
        [
            name,
            percent(moved["eer"]),
            percent(moved["human_flagged"]["value"]) if moved is clean else change(moved["human_flagged"]),
            percent(moved["generated_passing"]["value"]) if moved is clean else change(moved["generated_passing"]),
            f"{moved['human_flagged']['mean_shift']:+.3f}",
            f"{moved['generated_passing']['mean_shift']:+.3f}",
            percent(moved["verdicts_changed"]),
        ]
        for name, moved in conditions.items()
    ]
    return table(
        [
            "clips through",
            "EER",
            "human flagged at 0.5 (change in points)",
            "generated that pass (change in points)",
            "mean shift of human scores",
            "of generated ones",
            "verdicts that change",
        ],
        rows,
    )


def shift_table(conditions, names):
    rows = [
        [
            name,
            f"{conditions[name]['mean_absolute_shift']:.4f}",
            f"{conditions[name]['largest_shift']:.3f}",
            percent(conditions[name]["within_small_shift"]),
        ]
        for name in names
        if name in conditions
    ]
    heads = ["what should change nothing", "mean distance of scores", "largest", f"clips within {SMALL_SHIFT}"]
    return table(heads, rows)
