# SPDX-License-Identifier: Apache-2.0
"""A detector's results on the originals of `valid`, which are unseen pages, through the serving pipeline.

    python3 -m judge.originals files --originals FOLDER --out FOLDER       # WAV files at the original rates, list.csv
    python3 -m judge.originals published --originals FOLDER --mirrors FOLDER --out FOLDER     # the authors' own files
    veravox evaluate FOLDER/list.csv --model ID --scores SCORES.csv
    python3 -m judge.originals figures SCORES.csv .. [--training-list INDEX.csv [--only-unseen]] [--short]
        [--json FIGURES.json]

`published` leaves out recordings that are a part of a file or not in the mirrors; it is for measurements that depend on
the upload's codec. `figures` prints a table in Markdown, a column per SCORES.csv and a row per figure; rows without
their columns in the list say so. Clips missing in one of the files are left out of all columns. The column `part` of
the list is `calibration` for a quarter of the repositories, which validate training and bound the share of wrong
verdicts, and `judging` for the rest. Pages may have other clips in training; --only-unseen leaves them out. Clips below
1 s, which the server refuses, are left out.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from data.mirrors import Mirror, find_mirror
from data.originals_cache import OriginalsCache, read_table, write_table, write_wave
from data.prepare_chains import as_int16, is_for_calibration
from judge.emotions import emotion_of
from judge.held_out import figures_of
from judge.markdown import held_out_table

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
    "emotion",
    "original_format",
    "rate_hz",
    "system_in_training",
    "terms",
    "clip",
]
FEW_EMOTIONS = 3  # a word in fewer file names proves nothing


def held_out_clips(cache):
    """The clips of `valid` that the server does not refuse as too short."""
    return [clip for clip in cache.clips if clip["split"] == "valid" and clip["samples"] >= clip["rate_hz"]]


def list_row(clip, path):
    return {
        **clip,
        "path": path,
        "part": "calibration" if is_for_calibration(clip["repository"]) else "judging",
        "source": clip["repository"],
        "clip": f"{clip['repository']}/{clip['path']}#{clip['start_s']}",
    }


def with_emotions(rows):
    """The same with `emotion`: of people, from file names in repositories with at least FEW_EMOTIONS."""
    of_row = [emotion_of(row) if row["label"] == "bonafide" else None for row in rows]
    known = defaultdict(set)
    for row, emotion in zip(rows, of_row):
        known[row["source"]].add(emotion)
    return [
        {**row, "emotion": emotion or "" if len(known[row["source"]] - {None}) >= FEW_EMOTIONS else ""}
        for row, emotion in zip(rows, of_row)
    ]


def write_files(options):
    cache, out = OriginalsCache(options.originals), Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for clip in held_out_clips(cache):
        path = f"{len(rows):05d}.wav"
        write_wave(out / path, as_int16(cache.samples(clip)), clip["rate_hz"])
        rows.append(list_row(clip, path))
    write_table(out / "list.csv", COLUMNS, with_emotions(rows))


def write_published(options):
    by_repository, out, rows = defaultdict(list), Path(options.out), []
    out.mkdir(parents=True, exist_ok=True)
    for clip in held_out_clips(OriginalsCache(options.originals)):
        if clip["origin"] == "mirror" and not clip["start_s"]:
            by_repository[clip["repository"]].append(clip)
    for repository, clips in by_repository.items():
        with Mirror(find_mirror(options.mirrors, repository)) as mirror:
            for clip in clips:
                content, _ = mirror.read(clip["blob"], clip["branch"], clip["path"])
                path = f"{len(rows):05d}{Path(clip['path']).suffix}"
                (out / path).write_bytes(content)
                rows.append(list_row(clip, path))
    write_table(out / "list.csv", COLUMNS, with_emotions(rows))


def read_scores(path):
    """(clips, logits) of a list from veravox evaluate --scores; rows without a score are left out."""
    rows = [row for row in read_table(path) if row.get("score")]
    probability = np.clip(np.array([float(row["score"]) for row in rows]), 1e-6, 1 - 1e-6)
    return rows, np.log(probability / (1 - probability))


def same_clips(tables):
    """(clips, logits) of each score file, limited to their common clips, in one order."""
    places = [{row["path"]: place for place, row in enumerate(rows)} for rows, _ in tables]
    shared = [row["path"] for row in tables[0][0] if all(row["path"] in own for own in places)]
    if not shared:
        raise SystemExit("The score files have no clip in common.")
    chosen = [[own[path] for path in shared] for own in places]
    return [([rows[place] for place in own], logits[own]) for own, (rows, logits) in zip(chosen, tables)]


def places_of(clips, part, only_unseen=False):
    """Indices of the clips of a part, from pages unseen in training; a list without parts is one part."""
    wanted = lambda clip: part == "all" or clip.get("part", part) == part
    seen = lambda clip: only_unseen and clip.get("source_in_training") == "yes"
    return [place for place, clip in enumerate(clips) if wanted(clip) and not seen(clip)]


def mark_sources(clips, training_list):
    """Adds the column `source_in_training` to each clip, by the pages of the training clips in a list (docs/corpus.md,
    or sources.csv).
    """
    seen = {row.get("source") or row.get("repository") for row in read_table(training_list) if row["split"] == "train"}
    if seen <= {None, ""}:
        raise SystemExit(f"{training_list} names no page of a training clip.")
    for clip in clips:
        clip["source_in_training"] = "yes" if clip["source"] in seen else "no"


def report_figures(options):
    tables = same_clips([read_scores(path) for path in options.scores])
    clips, logits = tables[0][0], [own for _, own in tables]
    names = [Path(path).stem for path in options.scores]
    if options.joined:
        names.append("joined")
        logits.append(np.mean(logits, axis=0))
        tables.append(tables[0])
    if options.training_list:
        for rows, _ in tables:
            mark_sources(rows, options.training_list)
    places, reports = places_of(clips, options.part, options.only_unseen), {}
    for name, own, (rows, _) in zip(names, logits, tables):
        reports[name] = {
            "part": options.part,
            "only_unseen": options.only_unseen,
            "model": rows[0].get("model") if name != "joined" else None,
            "model_fingerprint": rows[0].get("model_fingerprint") if name != "joined" else None,
            **figures_of(own[places], [rows[place] for place in places]),
        }
    print(held_out_table(reports, with_groups=not options.short))
    if options.json:
        Path(options.json).write_text(json.dumps(reports, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    files = steps.add_parser("files")
    files.add_argument("--originals", required=True)
    files.add_argument("--out", required=True)
    files.set_defaults(run=write_files)
    published = steps.add_parser("published")
    published.add_argument("--originals", required=True)
    published.add_argument("--mirrors", required=True)
    published.add_argument("--out", required=True)
    published.set_defaults(run=write_published)
    figures = steps.add_parser("figures")
    figures.add_argument("scores", nargs="+")
    figures.add_argument("--part", choices=("judging", "calibration", "all"), default="judging")
    figures.add_argument("--joined", action="store_true", help="also the mean of the logits of all files")
    figures.add_argument("--training-list", help="index.csv or sources.csv of the detector's training")
    figures.add_argument("--only-unseen", action="store_true", help="no page of a training clip of that list")
    figures.add_argument("--short", action="store_true", help="no rows of single rates, languages and categories")
    figures.add_argument("--json")
    figures.set_defaults(run=report_figures)
    options = parser.parse_args()
    if options.step == "figures" and options.only_unseen and not options.training_list:
        parser.error("--only-unseen needs --training-list")
    options.run(options)


if __name__ == "__main__":
    main()
