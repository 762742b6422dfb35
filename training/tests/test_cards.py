# SPDX-License-Identifier: Apache-2.0
"""Content of a model card."""

import json
import tempfile
import unittest
from pathlib import Path

from export.figures_file import figures_file, put_figures
from export.manifest_file import MODELS
from judge.detector_card import SHIPPED, box, learning_curve, renew, threshold_table
from judge.markdown import percent, table
from judge.stability import stability, stability_table


def row(condition, label, clip, score, group="g"):
    return {"condition": condition, "label": label, "clip": clip, "score": score, "source": group, "system": group}


ROWS = [
    row("clean", "bonafide", "x", "0.4"),
    row("clean", "bonafide", "y", "0.1", "h"),
    row("clean", "spoof", "z", "0.9"),
    row("clean", "spoof", "lost", "0.2"),
    row("mp3", "bonafide", "y", "0.13", "h"),
    row("mp3", "bonafide", "x", "0.6"),
    row("mp3", "spoof", "z", "0.7"),
    row("mp3", "spoof", "lost", ""),
]


class ServedFigures(unittest.TestCase):
    def test_the_shipped_files_hold_the_thresholds_of_the_cards(self):
        files = sorted(MODELS.glob("*.figures.json"))
        self.assertEqual(len(files), 3)
        for path in files:
            served = json.loads(path.read_text())
            model_id = path.name.removesuffix(".figures.json")
            figures = json.loads((SHIPPED / model_id / "figures.json").read_text())
            made = figures_file(figures["held_out"], figures["thresholds"], served["det"])
            self.assertEqual(served, made, model_id)

    def test_a_file_reads_as_it_was_written(self):
        share = {"value": 0.1, "interval_95": [0, 1], "interval_95_units": [0.05, 0.2], "count": 1, "of": 10}
        thresholds = [{"threshold": 0.5, "target_fpr": None, "fpr": share, "fnr": share}]
        curve = [{"threshold": None, "fpr": 1.0, "fnr": 0.0}, {"threshold": 0.5, "fpr": 0.1, "fnr": 0.1}]
        figures = figures_file({"model_fingerprint": "f", "human": 10, "generated": 10}, thresholds, curve)
        self.assertEqual(figures["thresholds"][0]["fpr"], {"value": 0.1, "interval_95": [0.05, 0.2]})
        with tempfile.TemporaryDirectory() as folder:
            put_figures("m", figures, folder)
            text = Path(folder, "m.figures.json").read_text()
        self.assertEqual(json.loads(text), figures)
        self.assertEqual(text.count("\n"), 13)


class Stability(unittest.TestCase):
    def test_clips_are_compared_with_themselves_when_clean(self):
        moved = stability(ROWS)["mp3"]
        human = moved["human_flagged"]
        self.assertEqual((human["clips"], human["clean"], human["value"]), (2, 0, 0.5))
        self.assertEqual(human["change"]["value"], 0.5)
        self.assertEqual(human["change"]["interval_95"], [0, 1])
        self.assertEqual(human["mean_shift"], 0.115)
        self.assertEqual(moved["generated_passing"]["mean_shift"], -0.2)
        self.assertEqual(moved["without_a_score"], 1)
        self.assertEqual(moved["mean_absolute_shift"], round((0.03 + 0.2 + 0.2) / 3, 4))
        self.assertEqual(moved["largest_shift"], 0.2)
        self.assertEqual(moved["within_small_shift"], round(1 / 3, 4))
        self.assertEqual(moved["verdicts_changed"], round(1 / 3, 4))

    def test_the_table_gives_changes_with_their_signs(self):
        text = stability_table(stability(ROWS))
        self.assertIn("50.0 % (+50.0 (+0.0 to +100.0))", text)
        self.assertIn("| +0.115 | -0.200 |", text)

    def test_a_list_without_clean_clips_is_refused(self):
        with self.assertRaisesRegex(ValueError, "clean"):
            stability(ROWS[4:])


class Cards(unittest.TestCase):
    def test_the_box_names_the_worst_groups(self):
        share = lambda value, clips=20: {"value": value, "clips": clips, "interval_95": None}
        side = lambda value: {"value": value}
        held_out = {
            "human": 1857,
            "generated": 1889,
            "sources": 44,
            "systems": 61,
            "all": {"eer": {"value": 0.243, "interval_95": [0.194, 0.304]}},
            "human_flagged": share(0.115, 1857),
            "generated_passing": share(0.381, 1889),
            "modern_passing": share(0.318, 900),
            "human_flagged_by": {
                "source": {"a": share(0.1), "b": share(0.4)},
                "language": {"en": share(0.1)},
                "rate_hz": {"8000": share(0.2), "16000": share(0.1)},
                "category": {"telephone": share(0.3)},
            },
            "generated_passing_by": {"system": {"easy": share(0), "hard": share(1)}},
        }
        conditions = {
            "clean": {"human_flagged": side(0.1), "generated_passing": side(0.3)},
            "opus": {"human_flagged": side(0.5), "generated_passing": side(0.2)},
            "noise": {"human_flagged": side(0.1), "generated_passing": side(0.6)},
        }
        self.assertNotIn("without a reason", box(held_out, conditions))
        pages = {"pages": 21, "risk_by_page": 0.128, "given_by_page": 0.9}
        abstention = {"bound_by_page": 0.338, "calibration": pages, "judging": {**pages, "risk_by_page": 0.194}}
        text = box(held_out, conditions, abstention)
        for part in (
            "pages it never saw (1,857 human clips of 44 sources",
            "24.3 % (19.4 % to 30.4 %)",
            "by source: b, 40.0 % (8 of 20 clips)",
            "by original rate: 8000 Hz, 20.0 % (4 of 20 clips); by kind: telephone, 30.0 % (6 of 20 clips)",
            "noise: opus, 50.0 % (the same clips clean: 10.0 %)",
            "by system: hard, 100.0 % (20 of 20 clips); through a codec, a filter, a room or noise: noise, 60.0 %",
            "At most 33.8 % are wrong, with 95 % confidence",
            "12.8 % were wrong there and 19.4 % on the",
        ):
            self.assertIn(part, text)

    def test_only_the_section_of_that_name_is_renewed(self):
        mark = lambda name: f"<!-- begin: {name} made by training/judge/detector_card.py -->"
        page = f"{mark('box')}\nold\n<!-- end -->\nby hand\n{mark('figures')}\nold\n<!-- end -->\n"
        self.assertEqual(renew(page, "box", "new"), page.replace("old", "new", 1))
        with self.assertRaisesRegex(ValueError, "lacks"):
            renew(page, "other", "new")

    def test_thresholds_from_a_half_on_and_those_of_a_share_of_human_clips(self):
        share = lambda value: {"value": value, "interval_95": [0, 1], "interval_95_units": [value - 0.05, value + 0.05]}
        entry = lambda threshold, fpr, fnr, target=None: {
            "threshold": threshold,
            "target_fpr": target,
            "fpr": share(fpr),
            "fnr": share(fnr),
        }
        lines = threshold_table([entry(0.4, 0.5, 0.1), entry(0.5, 0.2, 0.3), entry(0.93, 0.05, 0.6, 0.05)]).splitlines()
        self.assertEqual(
            lines[2:],
            [
                "| 0.50 | 20.0 % (15.0 % to 25.0 %) | 30.0 % (25.0 % to 35.0 %) |",
                "| 0.93 (at most 5.0 % of these) | 5.0 % (0.0 % to 10.0 %) | 60.0 % (55.0 % to 65.0 %) |",
            ],
        )

    def test_a_table_in_markdown(self):
        self.assertEqual(table(["a", "b"], [["1", percent(0.0456)]]), "| a | b |\n| --- | --- |\n| 1 | 4.6 % |\n")

    def test_the_learning_curve_has_few_points_and_ends_with_the_last(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log.csv")
            log.write_text("crops,loss,eer,auc\n" + "".join(f"{step}000,0.5,0.2,0.9\n" for step in range(1, 30)))
            lines = learning_curve(log).splitlines()
        self.assertLessEqual(len(lines), 9)
        self.assertEqual(lines[-1], "| 29,000 | 0.5 | 20.0 % | 0.900 |")
