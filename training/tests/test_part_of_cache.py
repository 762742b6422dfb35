# SPDX-License-Identifier: Apache-2.0
"""Parts of the training material."""

import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

from data.corpus_cache import CorpusCache, write_clips
from data.originals_cache import write_table
from data.part_of_cache import part_of, place_of_page

TRAINING = Path(__file__).parents[1]
COLUMNS = ["repository", "path", "start_s", "terms", "corpus_path"]


def clip(page, name, label="bonafide", split="train", **more):
    return {
        "path": f"{page}/{name}#",
        "label": label,
        "split": split,
        "system": "x" if label == "spoof" else "",
        "source": page,
        "category": "",
        **more,
    }


class Parts(unittest.TestCase):
    def test_a_smaller_share_of_pages_is_part_of_a_larger_one(self):
        clips = [clip(f"owner/{number}", "a.wav") for number in range(400)]
        pages = [{kept["source"] for kept in part_of(clips, share)} for share in (0.25, 0.5, 1.0)]
        self.assertLess(pages[0], pages[1])
        self.assertEqual(len(pages[2]), 400)
        self.assertAlmostEqual(len(pages[0]), 100, delta=30)
        self.assertAlmostEqual(len(pages[1]), 200, delta=40)

    def test_what_is_validated_on_stays(self):
        out = next(f"owner/{number}" for number in range(99) if place_of_page(f"owner/{number}") > 0.1)
        valid = clip(out, "a.wav", split="valid")
        self.assertEqual(part_of([valid, clip(out, "b.wav")], 0.1, lambda recording: False), [valid])

    def test_a_copy_goes_with_its_recording(self):
        with tempfile.TemporaryDirectory() as folder:
            cache, sources, out = (Path(folder, name) for name in ("cache", "sources", "out"))
            cache.mkdir()
            sources.mkdir()
            clips = [
                clip("o/open", "a.wav"),
                clip("o/open", "a.wav", "spoof", path="copy-world:o/open/a.wav#", category="own-copy-synthesis"),
                clip("o/closed", "b.wav"),
                clip("o/closed", "b.wav", "spoof", path="copy-world:o/closed/b.wav#", category="own-copy-synthesis"),
                clip("o/corpus", "c.wav", "spoof"),
            ]
            write_clips(cache, clips, [np.full(3, number, np.int16) for number in range(len(clips))])
            rows = [("o/open", "a.wav", "open", ""), ("o/closed", "b.wav", "none stated", "")]
            rows.append(("o/corpus", "c.wav", "open", "c.opus"))
            write_table(
                sources / "sources.csv",
                COLUMNS,
                [dict(zip(COLUMNS, (page, path, "", terms, known))) for page, path, terms, known in rows],
            )

            def paths(*options):
                command = [sys.executable, "-m", "data.part_of_cache", "--cache", cache, "--out", out, *options]
                subprocess.run(command, check=True, capture_output=True, cwd=TRAINING)
                with open(out / "clips.csv", newline="") as table:
                    return [row["path"] for row in csv.DictReader(table)]

            self.assertEqual(
                paths("--sources", sources, "--terms", "open"),
                ["o/open/a.wav#", "copy-world:o/open/a.wav#", "o/corpus/c.wav#"],
            )
            self.assertEqual(paths("--sources", sources, "--in-corpus"), ["o/corpus/c.wav#"])
            part = CorpusCache(out)
            np.testing.assert_array_equal(part.pcm(part.clips[0]), [4, 4, 4])

    def test_a_choice_by_the_list_needs_the_list(self):
        command = [sys.executable, "-m", "data.part_of_cache", "--cache", "x", "--out", "y", "--terms", "open"]
        result = subprocess.run(command, capture_output=True, text=True, cwd=TRAINING)
        self.assertEqual(result.returncode, 2)
        self.assertIn("need --sources", result.stderr)


if __name__ == "__main__":
    unittest.main()
