# SPDX-License-Identifier: Apache-2.0
"""Calibrate a detector by codec and bit rate: offsets of the logit that return coded clips near the threshold to their
clean scores.

    python3 -m judge.calibrate_codecs CODEC-MEASURES.csv --model-id ID [--json CODECS.json] [--models FOLDER] [--write]
        [--judge CONDITION-MEASURES.csv]

CODEC-MEASURES.csv: from bench/clip-measures.ts, on a list of judge.make_conditions --part all --codecs. --write puts
the tables into `calibration.codecs` of the model's manifest entry. Prints the errors of each condition before and
after, and `cross_fitted`: with each page moved by the offsets of all others. --judge does the same for another list,
which may share clips with this one: only `cross_fitted` is free of a page's own clips.

A shift is the move of the clips near the threshold, human and generated ones alike, as a mean over a bootstrap of
systems and sources; its standard error is the deviation. Within a class all clips weigh the same, because the list
takes systems and sources in turns. A codec's offsets are the most probable ones if offsets are normal with a deviation
of PRIOR_SD and change per doubling of the rate by a deviation of STEP_SD: few clips move scores little, and
neighbouring rates move alike. Offsets of less than SURE of their own standard errors become 0.
"""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from export.manifest_file import put_codec_offsets
from judge.figures import area_under_curve, rounded, unit_weights
from judge.markdown import percent, table, three
from judge.measures import Measured, logit, options_parser

CLEAN = "clean"
NEAR_SD = 1.5  # of the logit: width of the normal curve that weighs clips near the threshold
PRIOR_SD, STEP_SD = 1.0, 0.5  # of the logit; the step per doubling of the bit rate
SURE = 3.0  # for some thirty conditions: at 2, one would pass by chance
LEAST_ERROR = 0.05  # of a shift: a bootstrap of few clips that move alike is not that sure
ROUNDS = 200
WHEN = ("before", "after", "cross_fitted")


def by_condition(measured):
    """{condition: {clip: place}}"""
    places = defaultdict(dict)
    for place, clip in enumerate(measured.clips):
        places[clip["condition"]][clip["clip"]] = place
    return places


def shift_of(clean, through, rounds=ROUNDS):
    """(mean, standard error) of the rise from `clean` to `through` of clips near the threshold of 0.5, in logits. Both
    have the same clips in the same order."""
    before, after = logit(clean.scores), logit(through.scores)
    nearness = np.exp(-(((before + after) / 2 / NEAR_SD) ** 2) / 2)
    drawn = unit_weights(clean.clips, rounds) * nearness
    # A draw that gives a class no weight has no shift.
    drawn = drawn[(drawn[:, clean.spoof].sum(axis=1) > 0) & (drawn[:, ~clean.spoof].sum(axis=1) > 0)]
    shifts = np.mean(
        [drawn[:, of] @ (after - before)[of] / drawn[:, of].sum(axis=1) for of in (clean.spoof, ~clean.spoof)], 0
    )
    return float(np.mean(shifts)), max(float(np.std(shifts)), LEAST_ERROR)


def most_probable(rates, shifts, errors):
    """Offsets at rising bit rates that undo the measured shifts as far as these are certain, and their standard errors,
    which are smaller than those of the shifts: neighbouring rates inform each other."""
    certainty = np.diag(1 / np.square(errors))
    steps = np.diff(np.eye(len(rates)), axis=0) / (STEP_SD * np.sqrt(np.diff(np.log2(rates))))[:, None]
    precision = certainty + np.eye(len(rates)) / PRIOR_SD**2 + steps.T @ steps
    return np.linalg.solve(precision, -certainty @ shifts), np.sqrt(np.diag(np.linalg.inv(precision)))


def fit(measured):
    """{codec: [[bits per second, offset], ..]} with rising rates."""
    places, points = by_condition(measured), defaultdict(list)
    for condition, of_clip in places.items():
        shared = [clip for clip in of_clip if clip in places[CLEAN]]
        clean = measured.at([places[CLEAN][clip] for clip in shared])
        through = measured.at([of_clip[clip] for clip in shared])
        codecs = {clip["codec"] for clip in through.clips}
        if condition == CLEAN or codecs == {""}:
            continue
        if len(codecs) > 1:
            raise ValueError(f"{condition} has clips of several codecs: {', '.join(sorted(codecs))}")
        rate = float(np.median(np.concatenate(through.coded_bits_per_s)))
        points[codecs.pop()].append((rate, *shift_of(clean, through)))
    tables = {}
    for codec, found in sorted(points.items()):
        rates, shifts, errors = np.array(sorted(found)).T
        if not (np.diff(rates) > 0).all():
            raise ValueError(f"two conditions of {codec} have the same bit rate")
        offsets, offset_errors = most_probable(rates, shifts, errors)
        offsets[np.abs(offsets) < SURE * offset_errors] = 0
        zero = np.pad(offsets == 0, 1, constant_values=True)
        kept = ~(zero[:-2] & zero[1:-1] & zero[2:])  # drops zeros between zeros
        if kept.any():
            tables[codec] = [[round(rate), rounded(offset)] for rate, offset in zip(rates[kept], offsets[kept])]
    return tables


def tables_of_other_pages(measured):
    """{page: tables fitted without that page}"""
    return {page: fit(measured.only(measured.pages != page)) for page in np.unique(measured.pages)}


def errors_of(**scored):
    """Per condition and kind of score: AUC and both errors at 0.5."""
    return {
        condition: {
            name: {
                "auc": rounded(area_under_curve(of.scores, of.spoof)),
                "human_flagged": rounded(of.is_wrong[~of.spoof].mean()),
                "generated_passing": rounded(of.is_wrong[of.spoof].mean()),
            }
            for name, measured in scored.items()
            for of in [measured.at(list(places.values()))]
        }
        for condition, places in by_condition(next(iter(scored.values()))).items()
    }


def errors_with_each(measured, tables, tables_of):
    return errors_of(
        before=measured,
        after=measured.with_codec_offsets(tables),
        cross_fitted=measured.page_by_page(lambda page, own: own.with_codec_offsets(tables_of[page])),
    )


def errors_table(conditions):
    rows = [
        [
            name,
            *(percent(found[when]["human_flagged"]) for when in WHEN),
            *(percent(found[when]["generated_passing"]) for when in WHEN),
            *(three(found[when]["auc"]) for when in WHEN),
        ]
        for name, found in conditions.items()
    ]
    heads = [f"{what} {when.replace('_', '-')}" for what in ("flagged", "pass", "AUC") for when in WHEN]
    return table(["Through", *heads], rows)


def main():
    parser = options_parser(__doc__)
    parser.add_argument("--json")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--judge", metavar="CONDITION-MEASURES.csv")
    options = parser.parse_args()
    measured = Measured.read(options.measures, options.model_id)
    tables, tables_of = fit(measured), tables_of_other_pages(measured)
    found = {"codecs": tables, "conditions": errors_with_each(measured, tables, tables_of)}
    print(errors_table(found["conditions"]))
    print(json.dumps(tables, indent=1))
    if options.judge:
        judged = Measured.read([options.judge], options.model_id)
        found["judged"] = errors_with_each(judged, tables, {**dict.fromkeys(judged.pages, tables), **tables_of})
        print(errors_table(found["judged"]))
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")
    if options.write:
        put_codec_offsets(options.model_id, tables, options.models)


if __name__ == "__main__":
    main()
