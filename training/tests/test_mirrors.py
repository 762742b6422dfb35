# SPDX-License-Identifier: Apache-2.0
"""Files from git mirrors."""

from data.mirrors import AbsentError, Mirror, clone, find_mirror
from tests.support import WithFolder, repository


class Mirrors(WithFolder):
    def test_a_file_is_found_by_its_blob_and_by_branch_or_head_and_path(self):
        ids = repository(self.folder / "a+b", {"x y/ü 1.wav": b"one", "two.wav": b"two"})
        with Mirror(find_mirror(self.folder, "a/b")) as mirror:
            self.assertEqual(mirror.read(ids["two.wav"]), (b"two", ids["two.wav"]))
            self.assertEqual(mirror.read(path="x y/ü 1.wav")[0], b"one")
            self.assertEqual(mirror.read(branch="main", path="two.wav")[0], b"two")

    def test_what_cannot_be_had_is_said_and_the_next_file_is_still_read(self):
        repository(
            self.folder / "a+b",
            {"d/x.wav": b"new", "lfs.wav": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"},
        )
        with Mirror(find_mirror(self.folder, "a/b")) as mirror:
            for arguments, reason in (
                ({"blob": "0" * 40, "path": "d/x.wav"}, "other content"),
                ({"blob": "0" * 40, "path": "y"}, "not in"),
                ({"path": "y.wav"}, "not in"),
                ({"path": "d"}, "a tree"),
                ({"path": "lfs.wav"}, "large file"),
                ({"branch": "gone", "path": "d/x.wav"}, "not in"),
                ({"path": "a\nb"}, "several lines"),
            ):
                with self.assertRaisesRegex(AbsentError, reason):
                    mirror.read(**arguments)
            self.assertEqual(mirror.read(path="d/x.wav")[0], b"new")

    def test_every_layout_of_a_mirror_is_found_and_a_clone_is_one(self):
        repository(self.folder / "from" / "o" / "n", {"x": b"x"})
        clone(self.folder / "mirrors", "o/n", f"{self.folder}/from/")
        for layout in ("p+q", "r+s/repo", "t+u/repo/.git"):
            repository(self.folder / "mirrors" / layout, {"x": b"x"})
        for name in ("o/n", "p/q", "r/s", "t/u"):
            with Mirror(find_mirror(self.folder / "mirrors", name)) as mirror:
                self.assertEqual(mirror.read(path="x")[0], b"x")
        self.assertIsNone(find_mirror(self.folder / "mirrors", "no/where"))
