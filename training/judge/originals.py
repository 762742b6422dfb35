# SPDX-License-Identifier: Apache-2.0
"""What a detector does with the originals of `valid`, through the pipeline that serves, page by page and rate by rate.

    python3 -m judge.originals files --originals FOLDER --out FOLDER        # wav files at the original rates, and
        list.csv
    veravox evaluate FOLDER/list.csv --model ID --scores SCORES.csv
    python3 -m judge.originals figures SCORES.csv .. [--json FIGURES.json]  # of the part that judges, and of all

The column `part` of the list is `calibration` for a quarter of the repositories, which calibration alone may look at,
and `judging` for the rest. Several SCORES.csv are also joined: the mean of their logits. Clips below 1 s, which the
server refuses, are left out.
"""

import argparse
import json
import wave
from collections import defaultdict
from pathlib import Path

import numpy as np

from data.originals_cache import OriginalsCache, read_table, write_table
from data.prepare_chains import as_int16, is_for_calibration
from judge.figures import alike, area_under_curve, equal_error_point, equal_error_rate, fit_scale, group_of, rounded

# Of `valid`, from 2022 on: zero-shot, codec language models, diffusion, flow and commercial ones.
MODERN = {
    "voxcpm",
    "cosyvoice2",
    "index-tts2",
    "semanticodec",
    "mimi",
    "stable-codec-taae",
    "speechtokenizer",
    "snac",
    "encodec",
    "mimo-audio",
    "metis-tts",
    "metis-vc",
    "naturalspeech2",
    "voicecraft",
    "ozspeech",
    "vall-e",
    "f5-tts",
    "kokoro",
    "openai-tts",
    "xtts-v2",
    "usdm",
    "usdm-unit-voicebox",
    "usdm-cascade",
    "usdm-from-scratch",
    "speechgpt",
    "rwkv-tts",
    "pflowtts",
    "comospeech",
    "isg",
    "ed-tts",
    "dmn-tts",
    "fdmn-tts",
    "quickvc",
    "pitchvc",
    "knn-vc",
    "so-vits-svc",
}
COLUMNS = [
    "path",
    "label",
    "part",
    "system",
    "source",
    "speaker",
    "category",
    "family",
    "language",
    "original_format",
    "rate_hz",
    "system_in_training",
    "terms",
    "clip",
]
MIN_CLIPS = 3  # of each class for a figure of one page or rate


def write_files(options):
    cache, out = OriginalsCache(options.originals), Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for clip in cache.clips:
        if clip["split"] != "valid" or clip["samples"] < clip["rate_hz"]:
            continue
        path = f"{len(rows):05d}.wav"
        with wave.open(str(out / path), "wb") as file:
            file.setparams((1, 2, clip["rate_hz"], 0, "NONE", ""))
            file.writeframes(as_int16(cache.samples(clip)).tobytes())
        part = "calibration" if is_for_calibration(clip["repository"]) else "judging"
        rows.append(
            {
                **clip,
                "path": path,
                "part": part,
                "source": clip["repository"],
                "clip": f"{clip['repository']}/{clip['path']}#{clip['start_s']}",
            }
        )
    write_table(out / "list.csv", COLUMNS, rows)


def inside_pages(logits, clips, spoof, wanted=lambda clip: True):
    """AUC of the wanted generated clips of a page against its human ones, per page."""
    pages = defaultdict(list)
    for index, clip in enumerate(clips):
        if not spoof[index] or wanted(clip):
            pages[clip["source"]].append(index)
    return {
        page: area_under_curve(logits[rows], spoof[rows])
        for page, rows in sorted(pages.items())
        if spoof[rows].sum() >= MIN_CLIPS and (~spoof[rows]).sum() >= MIN_CLIPS
    }


def on_pages_with_both(clips, spoof, wanted):
    """Indices of the wanted generated clips, and of the human ones of their pages."""
    pages = {clip["source"] for clip, is_spoof in zip(clips, spoof) if is_spoof and wanted(clip)}
    rows = [index for index, clip in enumerate(clips) if clip["source"] in pages and (not spoof[index] or wanted(clip))]
    human_pages = {clips[index]["source"] for index in rows if not spoof[index]}
    return np.array([index for index in rows if clips[index]["source"] in human_pages], dtype=int)


def share_by(clips, wrong, of_class, column):
    groups = defaultdict(list)
    for index in np.flatnonzero(of_class):
        groups[clips[index][column]].append(wrong[index])
    return {
        name: {"clips": len(values), "wrong": rounded(np.mean(values))}
        for name, values in sorted(groups.items(), key=lambda item: (len(item[0]), item[0]))
        if len(values) >= 15
    }


def figures_of(logits, clips):
    spoof = np.array([clip["label"] == "spoof" for clip in clips])
    is_modern = lambda clip: clip["system"] in MODERN
    weights, wrong = alike(clips, group_of), (logits > 0) != spoof
    modern = np.array([is_modern(clip) for clip in clips]) & spoof
    both, both_modern = on_pages_with_both(clips, spoof, lambda _: True), on_pages_with_both(clips, spoof, is_modern)
    pages, modern_pages = inside_pages(logits, clips, spoof), inside_pages(logits, clips, spoof, is_modern)
    new = on_pages_with_both(clips, spoof, lambda clip: clip["system_in_training"] == "no")
    pair = lambda rows: {
        "clips": len(rows),
        "eer": rounded(equal_error_rate(logits[rows], spoof[rows])),
        "auc": rounded(area_under_curve(logits[rows], spoof[rows])),
    }
    everything = np.arange(len(clips))
    rate, threshold = equal_error_point(logits, spoof, weights)
    return {
        "human": int((~spoof).sum()),
        "generated": int(spoof.sum()),
        "all": pair(everything),
        "alike": {
            "eer": rounded(rate),
            "auc": rounded(area_under_curve(logits, spoof, weights)),
            "threshold": rounded(1 / (1 + np.exp(-threshold))),
        },
        "pages_with_both": pair(both),
        "modern_same_pages": pair(both_modern),
        "unknown_generators_same_pages": pair(new),
        "mean_auc_inside_a_page": rounded(np.mean(list(pages.values()))),
        "pages": len(pages),
        "mean_auc_inside_a_page_modern": rounded(np.mean(list(modern_pages.values()))),
        "modern_pages": len(modern_pages),
        "human_flagged": rounded(wrong[~spoof].mean()),
        "generated_passing": rounded(wrong[spoof].mean()),
        "modern_passing": rounded(wrong[modern].mean()),
        "human_flagged_by_rate": share_by(clips, wrong, ~spoof, "rate_hz"),
        "generated_passing_by_rate": share_by(clips, wrong, spoof, "rate_hz"),
        "human_flagged_by_language": share_by(clips, wrong, ~spoof, "language"),
        "human_flagged_by_source": share_by(clips, wrong, ~spoof, "source"),
        "generated_passing_by_system": share_by(clips, wrong, spoof, "system"),
        "auc_inside_pages": {page: rounded(value) for page, value in pages.items()},
    }


def read_scores(path):
    """(clips, logits): of a list as veravox evaluate writes it with --scores; rows without a score are left out."""
    rows = [row for row in read_table(path) if row.get("score")]
    probability = np.clip(np.array([float(row["score"]) for row in rows]), 1e-6, 1 - 1e-6)
    return rows, np.log(probability / (1 - probability))


def recalibrated(logits, clips):
    """On the part for calibration, groups alike: 0.5 becomes the equal-error point there. Returns all logits."""
    part = np.array([clip["part"] == "calibration" for clip in clips])
    spoof = np.array([clip["label"] == "spoof" for clip in clips])
    chosen = [clip for clip, is_in in zip(clips, part) if is_in]
    weights = alike(chosen, group_of)
    scale, _ = fit_scale(logits[part], spoof[part], weights)
    _, threshold = equal_error_point(logits[part], spoof[part], weights)
    return scale * (logits - threshold)


def describe(name, figures):
    short = lambda value: f"{100 * value:.1f} %"
    pair = lambda entry: f"{short(entry['eer'])} / {entry['auc']:.3f}"
    print(f"\n{name}: {figures['human']} human, {figures['generated']} generated")
    for key in ("all", "alike", "pages_with_both", "modern_same_pages", "unknown_generators_same_pages"):
        print(f"  {key:32s} {pair(figures[key])}")
    print(
        f"  {'mean AUC inside a page':32s} {figures['mean_auc_inside_a_page']:.3f} ({figures['pages']} pages), "
        f"modern {figures['mean_auc_inside_a_page_modern']:.3f} ({figures['modern_pages']})"
    )
    print(
        f"  at 0.5: human flagged {short(figures['human_flagged'])}, "
        f"generated passing {short(figures['generated_passing'])}, "
        f"modern passing {short(figures['modern_passing'])}; equal error alike at {figures['alike']['threshold']}"
    )
    for key in ("human_flagged_by_rate", "generated_passing_by_rate"):
        print(
            f"  {key}: "
            + ", ".join(f"{rate} {short(entry['wrong'])} ({entry['clips']})" for rate, entry in figures[key].items())
        )


def report_figures(options):
    reports, joined, clips = {}, [], None
    for path in options.scores:
        rows, logits = read_scores(path)
        if clips is not None and [row["path"] for row in rows] != [row["path"] for row in clips]:
            raise SystemExit(f"{path} has other clips than {options.scores[0]}")
        clips = rows
        joined.append(logits)
    named = [(Path(path).stem, logits) for path, logits in zip(options.scores, joined)]
    if len(joined) > 1:
        named.append(("joined", np.mean(joined, axis=0)))
    judging = [index for index, clip in enumerate(clips) if clip["part"] == "judging"]
    for name, logits in named:
        parts = {
            "all of valid": (logits, clips),
            "judging": (logits[judging], [clips[index] for index in judging]),
            "judging, calibrated": (recalibrated(logits, clips)[judging], [clips[index] for index in judging]),
        }
        reports[name] = {part: figures_of(*chosen) for part, chosen in parts.items()}
        for part, figures in reports[name].items():
            describe(f"{name}, {part}", figures)
    if options.json:
        Path(options.json).write_text(json.dumps(reports, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    files = steps.add_parser("files")
    files.add_argument("--originals", required=True)
    files.add_argument("--out", required=True)
    files.set_defaults(run=write_files)
    figures = steps.add_parser("figures")
    figures.add_argument("scores", nargs="+")
    figures.add_argument("--json")
    figures.set_defaults(run=report_figures)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
