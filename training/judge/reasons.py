# SPDX-License-Identifier: Apache-2.0
"""Reasons worth giving: possible doubts about a verdict, and how much more often verdicts are wrong then.

    python3 -m judge.reasons MEASURES.csv .. --model-id ID --json ../bench/results/reason-errors.json [--models FOLDER]

MEASURES.csv: from bench/clip-measures.ts, one on `judge.originals files` and one on judge.make_conditions, whose column
`clip` names the path of the same clip in the other. The offsets by codec come from the manifest in --models. Errors are
of both classes, weighing systems and sources equally. A candidate needs MIN_CLIPS from MIN_PAGES.
"""

import json
from pathlib import Path

from export.manifest_file import get_entry
from judge.figures import rounded
from judge.measures import Measured, options_parser
from judge.served_reasons import RULES, has_reason, served_reasons, with_reason

MIN_CLIPS, MIN_PAGES = 20, 5  # with the reason, for a statement
CLEAN = "clean"
CANDIDATES = {
    "low_speech": [0.3, 0.5, 1, 2],
    "clipped": [0.0001, 0.001, 0.01],
    "band_limited": [40, 45, 50, 55, 60],
    "low_bit_rate": [14_000, 20_000, 28_000, 40_000],
    "low_snr": [15, 18, 21, 24, 27, 30, 31, 32, 34],
    "uncertain": [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5],
    "mixed_content": [1],
}


def errors(measured, given):
    weights, wrong = measured.weights, measured.is_wrong
    share = lambda chosen: (weights * wrong)[chosen].sum() / weights[chosen].sum()
    pages = {clip["source"] for clip, has in zip(measured.clips, given) if has}
    if given.sum() < MIN_CLIPS or len(pages) < MIN_PAGES or given.all():
        return {"clips": int(given.sum()), "pages": len(pages)}
    of_class = lambda spoof: (
        rounded(wrong[given & (measured.spoof == spoof)].mean()) if (given & (measured.spoof == spoof)).any() else None
    )
    return {
        "clips": int(given.sum()),
        "pages": len(pages),
        "wrong_with": rounded(share(given)),
        "wrong_without": rounded(share(~given)),
        "times": rounded(share(given) / share(~given), 2),
        "human_wrong_with": of_class(False),
        "generated_wrong_with": of_class(True),
    }


def candidates(clean, everything):
    for reason, limits in CANDIDATES.items():
        for limit in limits:
            given = with_reason(clean, reason, limit)
            yield {
                "reason": reason,
                "limit": limit,
                "what": RULES[reason][0],
                "human_share": rounded(given[~clean.spoof].mean()),
                "generated_share": rounded(given[clean.spoof].mean()),
                "originals": errors(clean, given),
                "all": errors(everything, with_reason(everything, reason, limit)),
            }


def moved(clean, through):
    """For the same clips: errors when clean and under a condition, and reasons of the latter."""
    before = {clip["path"] for clip in clean.clips}
    through = through.only([clip["clip"] in before for clip in through.clips])  # the pipeline may refuse the clean one
    changed = {clip["clip"] for clip in through.clips}
    same = clean.only([clip["path"] in changed for clip in clean.clips])
    share = lambda measured, spoof: rounded(measured.is_wrong[measured.spoof == spoof].mean())
    reasons = served_reasons(through)
    return {
        "clips": len(through.clips),
        "human_flagged": {"clean": share(same, False), "through": share(through, False)},
        "generated_passing": {"clean": share(same, True), "through": share(through, True)},
        "with": {name: rounded(has.mean()) for name, has in reasons.items()},
        "with_any": rounded(has_reason(through).mean()),
    }


def by_condition(clean, measured):
    names = sorted({condition_of(clip) for clip in measured.clips} - {CLEAN})
    return {
        name: moved(clean, measured.only([condition_of(clip) == name for clip in measured.clips])) for name in names
    }


def served(clean):
    """All given reasons together."""
    has = has_reason(clean)
    return {
        "human_share": rounded(has[~clean.spoof].mean()),
        "generated_share": rounded(has[clean.spoof].mean()),
        **errors(clean, has),
    }


def condition_of(clip):
    return clip.get("condition") or CLEAN


def main():
    parser = options_parser(__doc__)
    parser.add_argument("--json", required=True)
    options = parser.parse_args()
    tables = get_entry(options.model_id, options.models)["calibration"].get("codecs", {})
    measured = Measured.read(options.measures, options.model_id).with_codec_offsets(tables)
    measured = measured.only([clip.get("condition") != CLEAN for clip in measured.clips])  # a second time
    clean = measured.only([condition_of(clip) == CLEAN for clip in measured.clips])
    parts = {"calibration": clean.of_part("calibration"), "judging": clean.of_part("judging")}
    found = {
        "model": options.model_id,
        "served": {name: served(of) for name, of in {"all": clean, **parts}.items()},
        "candidates": list(candidates(clean, measured)),
        "conditions": by_condition(clean, measured),
    }
    Path(options.json).write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found["served"], indent=1))


if __name__ == "__main__":
    main()
