# SPDX-License-Identifier: Apache-2.0
"""Offsets by codec and bit rate: they undo a known shift and are cautious with little data."""

import json

import numpy as np

from export.manifest_file import get_entry, put_codec_offsets
from judge.calibrate_codecs import (
    SURE,
    errors_of,
    errors_with_each,
    fit,
    most_probable,
    shift_of,
    tables_of_other_pages,
)
from judge.calibrate_detector import equal_error_threshold
from judge.measures import Measured, logit, sigmoid
from tests.support import WithFolder

CLIPS, PAGES = 600, 30


def through(condition, codec="", rate="", shift=0.0, count=CLIPS, spread=0.0):
    """(clips, windows) of both classes, whose equal-error point lies at `shift`; each clip also has its own shift of
    `spread`."""
    rng, own = np.random.default_rng(5), np.random.default_rng(6)
    clips, windows = [], []
    for index in range(count):
        spoof = index % 2 == 0
        clips.append(
            {
                "condition": condition,
                "clip": str(index),
                "label": "spoof" if spoof else "bonafide",
                "source": f"page {index % PAGES}",
                "system": f"system {index % PAGES}" if spoof else "",
                "part": "calibration",
                "codec": codec,
                "coded_bits_per_s": f"{rate} {rate}",
            }
        )
        value = rng.normal(1.5 if spoof else -1.5, 1.5) + own.normal(shift, spread)
        windows.append(sigmoid(value + np.array([-0.1, 0.1])))
    return clips, windows


def measured(*conditions):
    return Measured(*([one for part in parts for one in part] for parts in zip(*conditions)))


class CodecOffsets(WithFolder):
    def test_offsets_undo_the_shift_of_each_rate(self):
        before = measured(
            through("clean"),
            through("opus 16", "opus", 16000, 1.5),
            through("opus 32", "opus", 32000, 0.8),
            through("opus 96", "opus", 96000, 0.0),
            through("gsm", "gsm_ms", 13000, -0.7),
        )
        tables = fit(before)
        self.assertEqual([rate for rate, _ in tables["opus"]], [16000, 32000, 96000])
        np.testing.assert_allclose([offset for _, offset in tables["opus"]], [-1.5, -0.8, 0], atol=0.1)
        np.testing.assert_allclose(tables["gsm_ms"], [[13000, 0.7]], atol=0.1)
        after = errors_of(before=before, after=before.with_codec_offsets(tables))
        for found in after.values():
            clean = after["clean"]["before"]["human_flagged"]
            self.assertAlmostEqual(found["after"]["human_flagged"], clean, delta=0.02)
            self.assertEqual(found["before"]["auc"], found["after"]["auc"])

    def test_a_page_does_not_choose_its_own_offset(self):
        clips, windows = through("opus 16", "opus", 16000, 1.5)
        windows = [sigmoid(logit(own) + 2 * (clip["source"] == "page 3")) for clip, own in zip(clips, windows)]
        before = measured(through("clean"), (clips, windows))
        tables_of = tables_of_other_pages(before)
        self.assertEqual(set(tables_of), {f"page {number}" for number in range(PAGES)})
        self.assertEqual(tables_of["page 3"], fit(before.only(before.pages != "page 3")))
        self.assertNotEqual(tables_of["page 3"], fit(before))

    def test_each_page_is_moved_by_its_own_tables(self):
        judged, lower = measured(through("opus 16", "opus", 16000)), {"opus": [[16000, -9.0]]}
        tables_of = {page: lower if page == "page 3" else {} for page in judged.pages}
        moved = judged.page_by_page(lambda page, own: own.with_codec_offsets(tables_of[page]))
        for page, before, after in zip(judged.pages, judged.windows, moved.windows):
            np.testing.assert_allclose(logit(after) - logit(before), -9 if page == "page 3" else 0, atol=1e-9)
        found = errors_with_each(judged, lower, {page: {} for page in judged.pages})["opus 16"]
        self.assertGreater(found["before"]["human_flagged"], 0.1)
        self.assertEqual(found["after"]["human_flagged"], 0)
        self.assertEqual(found["cross_fitted"], found["before"])

    def test_a_system_with_a_clip_more_than_all_others_does_not_choose_the_offset(self):
        """Equal weights of systems, with small ones joined, would give it half of its class."""

        def of_systems(shift_of_first, condition, codec=""):
            clips, windows = through(condition, codec, 16000, count=202)
            for index, clip in enumerate(clips):
                group = (index // 2) % 25  # five clips of the first of each class, four of all others
                name = f"{clip['label']} {0 if index >= 200 else group}"
                clip["source"], clip["system"] = name, name if clip["label"] == "spoof" else ""
                if name == "spoof 0":
                    windows[index] = sigmoid(logit(windows[index]) + shift_of_first)
            return clips, windows

        clean, coded = measured(of_systems(0, "clean")), measured(of_systems(4, "opus", "opus"))
        shift, _ = shift_of(clean, coded)
        self.assertLess(shift, 4 * 0.15 / 2)

    def test_a_shift_that_is_not_sure_is_undone_in_part(self):
        offsets, errors = most_probable([16000], np.array([2.0]), np.array([1.0]))
        np.testing.assert_allclose(offsets, [-1.0])
        np.testing.assert_allclose(errors, [np.sqrt(0.5)])

    def test_an_offset_that_is_not_sure_changes_no_score(self):
        tables = fit(
            measured(
                through("clean"),
                through("mp3 32", "mp3", 32000, 0.5),
                through("mp3 128", "mp3", 128000, 0.1),
                through("mp3 256", "mp3", 256000, 0.0),
                through("aac", "aac", 96000, -0.1),
                through("gsm", "gsm_ms", 13000, 0.3, spread=3.0),
            )
        )
        self.assertEqual(set(tables), {"mp3"})
        self.assertEqual(tables["mp3"][1:], [[128000, 0]])
        self.assertLess(tables["mp3"][0][1], -0.4)

    def test_a_neighbouring_rate_holds_an_unsure_one(self):
        alone, error_alone = most_probable([16000], np.array([2.0]), np.array([1.0]))
        beside, errors_beside = most_probable([16000, 17000], np.array([2.0, 0.0]), np.array([1.0, 0.05]))
        self.assertLess(abs(beside[0]), 0.2 * abs(alone[0]))
        self.assertLess(errors_beside[0], 0.3 * error_alone[0])

    def test_rates_that_shift_alike_are_sure_together(self):
        shifts, errors = np.array([0.58, 0.58, 0.58]), np.array([0.2, 0.2, 0.2])
        offsets, offset_errors = most_probable([16000, 24000, 32000], shifts, errors)
        self.assertTrue((np.abs(offsets) < SURE * errors).all())
        self.assertGreater(abs(offsets[1]), SURE * offset_errors[1])

    def test_offsets_are_interpolated_over_the_octaves_and_held_beyond_the_ends(self):
        tables = {"opus": [[16000, -1.0], [64000, 0.5]]}
        for rate, offset in ((8000, -1.0), (16000, -1.0), (32000, -0.25), (64000, 0.5), (256000, 0.5)):
            before = measured(through("opus", "opus", rate, count=4))
            moved = np.concatenate(before.with_codec_offsets(tables).windows)
            np.testing.assert_allclose(logit(moved) - logit(np.concatenate(before.windows)), offset, atol=1e-9)

    def test_clips_without_a_codec_or_of_an_unknown_one_keep_their_scores(self):
        before = measured(through("clean", count=4), through("mp2", "mp2", 64000, count=4))
        after = before.with_codec_offsets({"opus": [[16000, -1.0]]})
        np.testing.assert_array_equal(np.concatenate(after.windows), np.concatenate(before.windows))

    def test_the_shift_of_the_threshold_is_that_of_the_logits(self):
        clean, coded = measured(through("clean")), measured(through("opus", "opus", 16000, 1.2))
        shift, error = shift_of(clean, coded)
        self.assertAlmostEqual(shift, 1.2, delta=0.1)
        self.assertLess(error, 0.2)
        moved = coded.with_codec_offsets({"opus": [[16000, -shift]]})
        self.assertAlmostEqual(equal_error_threshold(moved), equal_error_threshold(clean), delta=0.02)

    def test_conditions_that_say_nothing_clear_are_refused(self):
        clean = through("clean", count=8)
        mixed = through("mixed", "opus", 16000, count=4)
        mixed[0][0]["codec"] = "vorbis"
        with self.assertRaisesRegex(ValueError, "mixed has clips of several codecs: opus, vorbis"):
            fit(measured(clean, mixed))
        same = (through(name, "opus", 16000, count=8) for name in ("a", "b"))
        with self.assertRaisesRegex(ValueError, "two conditions of opus"):
            fit(measured(clean, *same))

    def test_the_manifest_keeps_all_else(self):
        entry = {"id": "d", "calibration": {"scale": 1.5, "bias": 0.25}, "metrics": {"eer": 0.2}, "x": [6.8e-5, 2e-7]}
        path = self.folder / "manifest.json"
        path.write_text(json.dumps({"version": 1, "models": [entry, {"id": "e", "calibration": {}}]}))
        tables = {"opus": [[16000, -1.0], [64000, 0.0]]}
        put_codec_offsets("d", tables, self.folder)
        self.assertEqual(
            get_entry("d", self.folder), {**entry, "calibration": {"scale": 1.5, "bias": 0.25, "codecs": tables}}
        )
        self.assertEqual(get_entry("e", self.folder)["calibration"], {})
        # JavaScript's format.
        self.assertIn("0.000068", path.read_text())
        self.assertIn("2e-7", path.read_text())
