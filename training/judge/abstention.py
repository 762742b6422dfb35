# SPDX-License-Identifier: Apache-2.0
"""The limits for a detector's verdict `uncertain`, and the promise for verdicts without a reason: a bound on the share
of wrong ones that holds with 95 % confidence, from the calibration part of `valid`.

    python3 -m judge.abstention MEASURES.csv --model-id ID [--json ABSTENTION.json] [--models FOLDER] [--write]

MEASURES.csv: from bench/clip-measures.ts, originals without further conditions. --write puts the threshold and the
bound into the model's manifest entry.

Clips of one page share speakers, microphones and generators, so the unit is a page, and the risk is that of a random
page: the share of wrong verdicts without a reason over the share of verdicts without a reason, each a mean of the
page's two classes. The bound assumes only that further pages are drawn like these; it says nothing about other kinds of
generators. It is a test by betting (Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting).
For comparison, the bound of Clopper and Pearson over clips would hold only for further clips of the same pages.
"""

import json
from pathlib import Path

import numpy as np
from scipy.stats import beta

from export.manifest_file import put_abstention
from judge.figures import rounded
from judge.measures import Measured, options_parser
from judge.served_reasons import CONFIDENCE_BELOW, has_reason

LEVEL = 0.05
# Share of the largest bet that never loses everything. Large, because many pages have no errors.
STAKE = 0.9
RISK_STEP = 0.0025


def shares_of_pages(measured, chosen):
    """The share of chosen clips on each page: the mean of its classes."""
    sides = {}
    for index, clip in enumerate(measured.clips):
        sides.setdefault(clip["source"], {}).setdefault(clip["label"], []).append(chosen[index])
    return np.array([np.mean([np.mean(side) for side in page.values()]) for page in sides.values()])


def bound_by_page(wrong, given, level):
    """The smallest risk that is refuted; so are all above it. `wrong`, `given`: shares of pages without a reason.

    At a risk, wrong - risk * given has a mean of 0. Scaled to 0..1, a gambler who bets on a smaller mean, page by page
    at the same odds, exceeds 1 / level times the first stake only with a probability of `level`."""
    risks = np.arange(RISK_STEP, 1, RISK_STEP)
    losses = (wrong - risks[:, None] * (given - 1)) / (1 + risks[:, None])
    means = (risks / (1 + risks))[:, None]
    wealth = np.sum(np.log1p(-STAKE / (1 - means) * (losses - means)), axis=1)
    held = risks[wealth < np.log(1 / level)]
    return rounded(held.max() + RISK_STEP) if len(held) else RISK_STEP


def bound_by_clip(wrong, count, level):
    return float(beta.ppf(1 - level, wrong + 1, count - wrong)) if wrong < count else 1.0


def describe(measured):
    """Figures of verdicts with and without a reason."""
    reason, wrong, spoof, weights = has_reason(measured), measured.is_wrong, measured.spoof, measured.weights
    rate = lambda of, chosen: rounded(of[chosen].mean()) if chosen.any() else None
    alike = lambda chosen: rounded(np.average(wrong[chosen], weights=weights[chosen])) if chosen.any() else None
    given = shares_of_pages(measured, ~reason)
    return {
        "clips": len(measured.clips),
        "pages": len(given),
        "human_with_reason": rate(reason, ~spoof),
        "generated_with_reason": rate(reason, spoof),
        "wrong_with_reason": alike(reason),
        "wrong_without_reason": alike(~reason),
        "human_flagged_without_reason": rate(wrong, ~reason & ~spoof),
        "generated_passing_without_reason": rate(wrong, ~reason & spoof),
        "given_by_page": rounded(given.mean()),
        "risk_by_page": rounded(shares_of_pages(measured, wrong & ~reason).mean() / given.mean()),
    }


def given_and_wrong(measured):
    given = ~has_reason(measured)
    return given, measured.is_wrong & given


def page_bound_of(measured):
    given, wrong = given_and_wrong(measured)
    return bound_by_page(shares_of_pages(measured, wrong), shares_of_pages(measured, given), LEVEL)


def clip_bound_of(measured):
    given, wrong = given_and_wrong(measured)
    return rounded(bound_by_clip(int(wrong.sum()), int(given.sum()), LEVEL))


def derive(measured):
    parts = {part: measured.of_part(part) for part in ("calibration", "judging")}
    return {
        "confidence_below": CONFIDENCE_BELOW,
        "bound_by_page": page_bound_of(parts["calibration"]),
        "bound_by_clip": clip_bound_of(parts["calibration"]),
        # Not promised: networks were compared on the judging pages.
        "bound_by_page_of_all": page_bound_of(measured),
        **{name: describe(part) for name, part in parts.items()},
    }


def main():
    parser = options_parser(__doc__)
    parser.add_argument("--json")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    derived = derive(Measured.read(options.measures, options.model_id))
    text = json.dumps(derived, indent=1)
    print(text)
    if options.json:
        Path(options.json).write_text(text + "\n")
    if options.write:
        entry = {
            "confidence_below": CONFIDENCE_BELOW,
            "error_bound": derived["bound_by_page"],
            "verdicts_given": derived["calibration"]["given_by_page"],
        }
        put_abstention(options.model_id, entry, options.models)


if __name__ == "__main__":
    main()
