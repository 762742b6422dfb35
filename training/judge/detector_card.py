# SPDX-License-Identifier: Apache-2.0
"""Put a detector's figures, as `veravox evaluate` measured them, into its card, its manifest entry and figures.json.

    python3 -m judge.detector_card --model-id ID --scores SCORES.csv --clean CLEAN.json --conditions CONDITIONS.json

All three come from `veravox evaluate` on the list of judge/make_conditions.py; README.md has the commands.
"""

import argparse
import csv
import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np

from export.manifest_file import MODELS, put_metrics
from judge import figures as measured

BEGIN, END = "<!-- begin: made by training/judge/detector_card.py -->", "<!-- end -->"
SHIPPED = Path(__file__).resolve().parents[1] / "shipped"
CHANGES_NOTHING = ["flac", "wav 44.1 kHz", "30 dB quieter", "0.5 s of silence before"]
FEW_CLIPS = 5
CURVE_ROWS = 6


def rounded(value):
    """To a ten thousandth of a percent, so that rounding it again for people rarely goes another way."""
    return measured.rounded(value, 6)


def score_shifts(rows):
    """By condition: how far the scores of clips move from what they are when clean."""
    clean = {row["clip"]: float(row["score"]) for row in rows if row["condition"] == "clean" and row["score"]}
    shifts = defaultdict(list)
    for row in rows:
        if row["condition"] != "clean" and row["score"] and row["clip"] in clean:
            shifts[row["condition"]].append(abs(float(row["score"]) - clean[row["clip"]]))
    return {
        name: {
            "clips": len(values),
            "mean": rounded(np.mean(values)),
            "largest": rounded(np.max(values)),
            "within_0.05": rounded(np.mean(np.array(values) <= 0.05)),
        }
        for name, values in shifts.items()
    }


def figure(value):
    return value and {"value": rounded(value["value"]), "interval_95": rounded(value["interval_95"])}


def group_figures(group):
    """Of a group's human clips, of its generated ones, and of the ones against the others."""
    side = lambda part: (
        part
        and {
            "clips": part["count"],
            "error_at_threshold": rounded(part["errors"]["value"]),
            "auc": part["auc"] and rounded(part["auc"]),
        }
    )
    within = group["within"]
    return {
        "bonafide": side(group["negative"]),
        "spoof": side(group["positive"]),
        "eer": within and rounded(within["eer"]),
        "auc": within and rounded(within["auc"]),
    }


def gather(clean, conditions, rows):
    grouped = defaultdict(dict)
    for group in clean["groups"] + conditions["groups"]:
        grouped[group["column"]][group["value"]] = group_figures(group)
    overall, at_threshold = clean["overall"], clean["at_threshold"]
    inside = clean["inside_one_source"]
    return {
        "bonafide_clips": clean["counts"]["negative"],
        "spoof_clips": clean["counts"]["positive"],
        "without_a_score": clean["counts"]["failed"],
        **{name: figure(overall[name]) for name in ("eer", "auc", "eer_groups_alike", "auc_groups_alike")},
        "min_dcf": {cost["name"]: figure(cost) for cost in overall["min_dcf"]},
        "at_0.5": {name: rounded(at_threshold[name]["value"]) for name in ("fpr", "fnr")},
        "auc_inside_one_source": inside
        and {
            **figure(inside),
            "sources": {
                source["source"]: {
                    "bonafide": source["negative"],
                    "spoof": source["positive"],
                    "auc": rounded(source["auc"]),
                }
                for source in inside["sources"]
            },
        },
        "expected_calibration_error": rounded(clean["calibration"]["expected_calibration_error"]),
        "groups": grouped,
        "score_shifts": score_shifts(rows),
    }


def percent(value):
    return "" if value is None else f"{100 * value:.1f} %"


def with_interval(value, text):
    return f"{text(value['value'])} ({', '.join(text(end) for end in value['interval_95'])})" if value else ""


def table(heads, rows):
    return "\n".join(["| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads), *rows]]) + "\n"


def overall_table(figures):
    three = lambda value: f"{value:.3f}"
    rows = [
        ["EER", with_interval(figures["eer"], percent)],
        ["AUC", with_interval(figures["auc"], three)],
        ["EER, systems and sources alike", with_interval(figures["eer_groups_alike"], percent)],
        ["AUC, systems and sources alike", with_interval(figures["auc_groups_alike"], three)],
    ]
    rows += [[f"minDCF ({name})", with_interval(cost, three)] for name, cost in figures["min_dcf"].items()]
    inside = figures["auc_inside_one_source"]
    if inside:
        rows.append(["mean AUC inside one source", with_interval(inside, three)])
        rows += [
            [f"inside {name} ({source['bonafide']} human, {source['spoof']} generated)", three(source["auc"])]
            for name, source in inside["sources"].items()
        ]
    rows += [
        ["human clips called spoofed at 0.5", percent(figures["at_0.5"]["fpr"])],
        ["generated clips that pass at 0.5", percent(figures["at_0.5"]["fnr"])],
        ["expected calibration error", percent(figures["expected_calibration_error"])],
    ]
    return table(["clean clips", "value (95 % interval)"], rows)


def condition_table(figures):
    clean = figures["groups"]["condition"]["clean"]["eer"]
    rows = [
        [
            name,
            percent(group["eer"]),
            f"{group['eer'] / clean:.2f}",
            percent(group["bonafide"]["error_at_threshold"]),
            percent(group["spoof"]["error_at_threshold"]),
        ]
        for name, group in sorted(figures["groups"]["condition"].items(), key=lambda item: item[1]["eer"])
    ]
    return table(["clips through", "EER", "times clean", "human called spoofed at 0.5", "generated that pass"], rows)


def shift_table(figures):
    rows = [
        [name, f"{shift['mean']:.4f}", f"{shift['largest']:.3f}", percent(shift["within_0.05"])]
        for name, shift in figures["score_shifts"].items()
        if name in CHANGES_NOTHING
    ]
    return table(["what should change nothing", "mean shift of the score", "largest", "clips within 0.05"], rows)


def side_table(figures, column, side, head):
    groups = {
        name: group[side]
        for name, group in figures["groups"].get(column, {}).items()
        if group[side] and group[side]["clips"] >= FEW_CLIPS
    }
    rows = [
        [
            name,
            str(group["clips"]),
            percent(group["error_at_threshold"]),
            "" if group["auc"] is None else f"{group['auc']:.3f}",
        ]
        for name, group in sorted(groups.items(), key=lambda item: -item[1]["error_at_threshold"])
    ]
    return table([head, "clips", "errors at 0.5", "AUC against all of the other class"], rows)


def learning_curve(log):
    """Of a log.csv: at most CURVE_ROWS + 1 of its lines, the last among them."""
    with open(log, newline="") as lines:
        points = list(csv.DictReader(lines))
    kept = points[::-1][:: -(-len(points) // CURVE_ROWS)][::-1]
    rows = [
        [f"{int(point['crops']):,}", point["loss"], percent(float(point["eer"])), f"{float(point['auc']):.3f}"]
        for point in kept
    ]
    return table([f"crops ({log.name})", "loss on them", "EER", "AUC"], rows)


def section(figures, model_id):
    logs = sorted((SHIPPED / model_id).glob("log*.csv"))
    plots = " ".join(
        f"![{name}](plots/{model_id}/{file}.svg)"
        for name, file in (("DET curve", "det"), ("Scores of both classes", "scores"), ("Reliability", "reliability"))
    )
    few = f"Groups of {FEW_CLIPS} clips or more; the rest is in `training/shipped/{model_id}/figures.json`."
    return "\n".join(
        [
            f"{figures['bonafide_clips']} human and {figures['spoof_clips']} generated clips of the validation split,"
            " of 1 s or more, through the serving pipeline.\n",
            overall_table(figures),
            plots + "\n",
            condition_table(figures),
            shift_table(figures),
            few + "\n",
            side_table(figures, "system", "spoof", "generated by"),
            side_table(figures, "source", "bonafide", "human from"),
            *(
                side_table(figures, column, side, f"{what} clips by {head}")
                for column, head in (
                    ("language", "language"),
                    ("original_format", "original format"),
                    ("duration", "duration"),
                )
                for side, what in (("bonafide", "human"), ("spoof", "generated"))
            ),
            *(["Learning curve, by one window of each clip of the validation split while training:\n"] if logs else []),
            *map(learning_curve, logs),
        ]
    )


def renew_card(path, text):
    page = path.read_text()
    marked = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if len(marked.findall(page)) != 1:
        raise ValueError(f"{path} lacks the one section between {BEGIN} and {END}")
    path.write_text(marked.sub(lambda _: f"{BEGIN}\n{text}\n{END}", page))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model-id", required=True)
    for name in ("--scores", "--clean", "--conditions"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    clean, conditions = (json.loads(Path(path).read_text()) for path in (options.clean, options.conditions))
    if {report["model"]["id"] for report in (clean, conditions)} != {options.model_id}:
        parser.error("the reports are of another model")
    with open(options.scores, newline="") as scores:
        figures = gather(clean, conditions, list(csv.DictReader(scores)))
    folder = SHIPPED / options.model_id
    (folder / "figures.json").write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
    put_metrics(
        options.model_id,
        {
            "measured_on": "validation split of the speech corpus, through the serving pipeline",
            **{name: figures[name] for name in ("eer", "auc", "eer_groups_alike", "at_0.5")},
        },
    )
    renew_card(MODELS / f"{options.model_id}.md", section(figures, options.model_id))


if __name__ == "__main__":
    main()
