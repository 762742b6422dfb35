# SPDX-License-Identifier: Apache-2.0
"""Which reasons are worth giving: what could speak against a verdict, and how much more often verdicts are wrong then.

    python3 -m judge.reasons MEASURES.csv .. --model-id ID --json ../bench/results/reason-errors.json [--models FOLDER]

MEASURES.csv: of bench/clip-measures.ts, one of `judge.originals files` and one of judge.make_conditions, whose column
`clip` names the path of the same clip in the other. The offsets by codec are those of the manifest in --models. Errors
are those of both classes, systems and sources alike. A candidate says something only of MIN_CLIPS of MIN_PAGES and
more.
"""

import json
from pathlib import Path

import numpy as np

from export.manifest_file import get_entry
from judge.abstention import CONFIDENCE_BELOW
from judge.figures import rounded
from judge.measures import Measured, options_parser

MIN_CLIPS, MIN_PAGES = 20, 5  # with the reason, for a statement
CLEAN = "clean"
CANDIDATES = {
    "low_speech": ("s of speech, below", "speech_s", [0.3, 0.5, 1, 2], False),
    "clipped": ("of the samples at full scale, at least", "clipped_ratio", [0.0001, 0.001, 0.01], True),
    "band_limited": ("dB weaker above 4.7 kHz, at least", "high_band_drop_db", [40, 45, 50, 55, 60], True),
    "low_bit_rate": ("bit/s of Opus, below", "opus_bits_per_s", [14_000, 20_000, 28_000, 40_000], False),
    "low_snr": ("dB above the pauses, below", "noise_gap_db", [12, 15, 18, 21, 24, 30], False),
    "uncertain": ("of confidence, below", "confidence", [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5], False),
    "mixed_content": ("windows of both kinds", "is_mixed", [1], True),
}
# As src/analysis/verdict/reasons.ts and the manifests of shipped detectors have them.
SERVED = {"uncertain": CONFIDENCE_BELOW, "mixed_content": 1, "band_limited": 55, "low_bit_rate": 20_000, "low_snr": 18}


def with_reason(measured, measure, limit, is_above):
    values = getattr(measured, measure) if hasattr(measured, measure) else measured.measure(measure)
    # What could not be measured is no reason.
    return values >= limit if is_above else values < limit


def errors(measured, has_reason):
    weights, wrong = measured.weights, measured.is_wrong
    share = lambda chosen: (weights * wrong)[chosen].sum() / weights[chosen].sum()
    pages = {clip["source"] for clip, has in zip(measured.clips, has_reason) if has}
    if has_reason.sum() < MIN_CLIPS or len(pages) < MIN_PAGES or has_reason.all():
        return {"clips": int(has_reason.sum()), "pages": len(pages)}
    of_class = lambda spoof: (
        rounded(wrong[has_reason & (measured.spoof == spoof)].mean())
        if (has_reason & (measured.spoof == spoof)).any()
        else None
    )
    return {
        "clips": int(has_reason.sum()),
        "pages": len(pages),
        "wrong_with": rounded(share(has_reason)),
        "wrong_without": rounded(share(~has_reason)),
        "times": rounded(share(has_reason) / share(~has_reason), 2),
        "human_wrong_with": of_class(False),
        "generated_wrong_with": of_class(True),
    }


def candidates(clean, everything):
    for reason, (what, measure, limits, is_above) in CANDIDATES.items():
        for limit in limits:
            given = with_reason(clean, measure, limit, is_above)
            yield {
                "reason": reason,
                "limit": limit,
                "what": what,
                "human_share": rounded(given[~clean.spoof].mean()),
                "generated_share": rounded(given[clean.spoof].mean()),
                "originals": errors(clean, given),
                "all": errors(everything, with_reason(everything, measure, limit, is_above)),
            }


def moved(clean, through):
    """Of the same clips: errors clean and through a condition, and how many of the latter have which reason."""
    before = {clip["path"] for clip in clean.clips}
    through = through.only([clip["clip"] in before for clip in through.clips])  # the pipeline may refuse the clean one
    changed = {clip["clip"] for clip in through.clips}
    same = clean.only([clip["path"] in changed for clip in clean.clips])
    share = lambda measured, spoof: rounded(measured.is_wrong[measured.spoof == spoof].mean())
    reasons = [with_reason(through, CANDIDATES[name][1], limit, CANDIDATES[name][3]) for name, limit in SERVED.items()]
    return {
        "clips": len(through.clips),
        "human_flagged": {"clean": share(same, False), "through": share(through, False)},
        "generated_passing": {"clean": share(same, True), "through": share(through, True)},
        "with": {name: rounded(has.mean()) for name, has in zip(SERVED, reasons)},
        "with_any": rounded(np.any(reasons, axis=0).mean()),
    }


def by_condition(clean, measured):
    names = sorted({condition_of(clip) for clip in measured.clips} - {CLEAN})
    return {
        name: moved(clean, measured.only([condition_of(clip) == name for clip in measured.clips])) for name in names
    }


def served(clean):
    """All reasons that are given, together."""
    has = np.any(
        [with_reason(clean, CANDIDATES[name][1], limit, CANDIDATES[name][3]) for name, limit in SERVED.items()], axis=0
    )
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
