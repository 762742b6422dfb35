# SPDX-License-Identifier: Apache-2.0
"""Original recordings on disk: needs git and ffmpeg."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np

from data.originals_cache import OriginalsCache, read_table
from tests.support import WithFolder, repository, write_wave

COLUMNS = [
    "label",
    "split",
    "system",
    "category",
    "family",
    "speaker",
    "repository",
    "path",
    "start_s",
    "end_s",
    "branch",
    "commit",
    "blob",
    "licence",
    "terms",
    "language",
    "original_rate",
    "original_format",
    "duration_s",
    "pair_id",
    "system_in_training",
    "corpus_path",
    "flag",
]


class Originals(WithFolder):
    def setUp(self):
        super().setUp()
        self.tone = (8000 * np.sin(2 * np.pi * 440 * np.arange(96000) / 96000)).astype(np.int16)
        files = {}
        for name, rate_hz, channels in (
            ("a.wav", 22050, 1),
            ("stereo.wav", 48000, 2),
            ("high.wav", 96000, 1),
            ("part.wav", 16000, 1),
        ):
            path = self.folder / "wave" / name
            write_wave(path, self.tone[:rate_hz] if rate_hz < 96000 else self.tone, rate_hz, channels)
            files[name] = path.read_bytes()
        files["broken.wav"] = b"no audio at all"
        self.ids = repository(self.folder / "mirrors" / "o+n", files)
        write_wave(self.folder / "corpus" / "copy.wav", self.tone[:16000], 16000)
        self.rows = []
        for path, more in (
            ("a.wav", {}),
            ("stereo.wav", {}),
            ("high.wav", {"blob": ""}),
            ("part.wav", {"start_s": "0.25", "end_s": "0.75"}),
            ("broken.wav", {"corpus_path": "copy.wav"}),
        ):
            self.list_row("o/n", path, **{"blob": self.ids[path], **more})

    def list_row(self, name, path, *, blob="", **more):
        row = dict.fromkeys(COLUMNS, "")
        row.update(repository=name, path=path, blob=blob, label="bonafide", split="train", terms="open")
        self.rows.append({**row, **more})

    def prepare(self, *arguments):
        with open(self.folder / "sources.csv", "w", newline="") as table:
            writer = csv.DictWriter(table, COLUMNS)
            writer.writeheader()
            writer.writerows(self.rows)
        subprocess.run(
            [
                sys.executable,
                "-m",
                "data.prepare_originals",
                "--sources",
                self.folder,
                "--mirrors",
                self.folder / "mirrors",
                "--out",
                self.folder / "out",
                "--corpus",
                self.folder / "corpus",
                *arguments,
            ],
            check=True,
            capture_output=True,
            cwd=Path(__file__).parents[1],
        )
        return {clip["path"]: clip for clip in OriginalsCache(self.folder / "out").clips}

    def test_recordings_keep_their_rate_up_to_48_khz_and_their_samples(self):
        clips = self.prepare()
        self.assertEqual(
            {path: (clip["rate_hz"], clip["samples"], clip["origin"]) for path, clip in clips.items()},
            {
                "a.wav": (22050, 22050, "mirror"),
                "stereo.wav": (48000, 48000, "mirror"),
                "high.wav": (48000, 48000, "mirror"),
                "part.wav": (16000, 8000, "mirror"),
                "broken.wav": (16000, 16000, "corpus"),
            },
        )
        cache = OriginalsCache(self.folder / "out")
        samples = {clip["path"]: cache.samples(clip) * 32768 for clip in cache.clips}
        np.testing.assert_array_equal(samples["a.wav"], self.tone[:22050])
        np.testing.assert_array_equal(samples["stereo.wav"], self.tone[:48000])
        np.testing.assert_array_equal(samples["part.wav"], self.tone[4000:12000])
        self.assertLess(np.abs(samples["high.wav"] - self.tone[::2])[100:-100].max(), 8000 * 0.01)
        self.assertEqual(clips["high.wav"]["blob"], self.ids["high.wav"])
        absent = read_table(self.folder / "out" / "absent.csv")
        self.assertEqual(
            [(row["path"], row["reason"], row["taken_from_corpus"]) for row in absent],
            [("broken.wav", "cannot be decoded", "yes")],
        )

    def test_a_complete_repository_is_not_read_again_and_one_that_lacked_something_is(self):
        self.rows.pop()
        self.list_row("late/comer", "x.wav")
        self.assertNotIn("x.wav", self.prepare())
        before = (self.folder / "out" / "o+n.i16").stat().st_mtime_ns
        repository(self.folder / "mirrors" / "late+comer", {"x.wav": (self.folder / "wave" / "a.wav").read_bytes()})
        self.assertEqual(self.prepare()["x.wav"]["origin"], "mirror")
        self.assertEqual((self.folder / "out" / "o+n.i16").stat().st_mtime_ns, before)

    def test_terms_choose_and_noncommercial_recordings_never_train(self):
        self.rows = self.rows[:1]
        for path, more in (
            ("stereo.wav", {"terms": "none stated"}),
            ("part.wav", {"terms": "noncommercial", "split": "valid"}),
            ("high.wav", {"terms": "noncommercial", "split": "train"}),
        ):
            self.list_row("o/n", path, **{"blob": self.ids[path], **more})
        self.assertEqual(set(self.prepare("--terms", "open")), {"a.wav"})
        self.assertEqual(set(self.prepare()), {"a.wav", "stereo.wav", "part.wav"})

    def test_published_files_are_the_authors_own_and_whole_ones_only(self):
        for row in self.rows:
            row["split"] = "train" if row["path"] == "stereo.wav" else "valid"
        self.prepare()
        subprocess.run(
            [
                sys.executable,
                *("-m", "judge.originals", "published"),
                *("--originals", self.folder / "out"),
                *("--mirrors", self.folder / "mirrors"),
                *("--out", self.folder / "published"),
            ],
            check=True,
            cwd=Path(__file__).parents[1],
        )
        listed = read_table(self.folder / "published" / "list.csv")
        self.assertEqual([row["clip"] for row in listed], ["o/n/a.wav#", "o/n/high.wav#"])
        for row, name in zip(listed, ("a.wav", "high.wav")):
            self.assertEqual(
                (self.folder / "published" / row["path"]).read_bytes(), (self.folder / "wave" / name).read_bytes()
            )
