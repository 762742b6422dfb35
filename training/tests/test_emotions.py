# SPDX-License-Identifier: Apache-2.0
"""Recognition of recordings with acted emotions in a list."""

import unittest

from judge.originals import with_emotions


def clip(source, name, label="bonafide"):
    return {"source": source, "clip": f"{source}/{name}#", "label": label}


class Emotions(unittest.TestCase):
    def test_a_repository_must_have_three_and_generated_clips_have_none(self):
        rows = [
            *(clip("a/acted", f"X_{name}_1.wav") for name in ("anger", "sad", "calm")),
            clip("a/acted", "X_fear_1.wav", "spoof"),
            clip("a/acted", "other.wav"),
            clip("a/words", "happy/1.wav"),
        ]
        found = [row["emotion"] for row in with_emotions(rows)]
        self.assertEqual(found, ["anger", "sad", "neutral", "", "", ""])


if __name__ == "__main__":
    unittest.main()
