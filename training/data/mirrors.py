# SPDX-License-Identifier: Apache-2.0
"""Reads files from bare git mirrors, by blob id or by branch and path. A folder of mirrors has OWNER+NAME,
OWNER+NAME/repo or OWNER+NAME/repo/.git for the repository OWNER/NAME.
"""

import hashlib
import subprocess
from pathlib import Path

HOST = "https://github.com/"
LFS_POINTER = b"version https://git-lfs"


class AbsentError(Exception):
    """The message gives the reason."""


def find_mirror(mirrors, repository):
    """The git directory of a repository, or None."""
    folder = Path(mirrors) / repository.replace("/", "+")
    for candidate in (folder / "repo" / ".git", folder / "repo", folder):
        if (candidate / "HEAD").is_file() and (candidate / "objects").is_dir():
            return candidate
    return None


def clone(mirrors, repository, host=HOST):
    """Clones a bare mirror; an incomplete one never has its final name."""
    folder = Path(mirrors) / repository.replace("/", "+")
    partial = folder.with_name(folder.name + ".partial")
    subprocess.run(["rm", "-rf", str(partial)], check=True)
    subprocess.run(["git", "clone", "--quiet", "--mirror", f"{host}{repository}", str(partial)], check=True)
    partial.rename(folder)
    return folder


def blob_id(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Mirror:
    """One `git cat-file` for any number of files."""

    def __init__(self, git_directory):
        self._process = subprocess.Popen(
            ["git", f"--git-dir={git_directory}", "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _read(self, name):
        """(type, content), or None if git has no such object."""
        if "\n" in name:
            raise AbsentError("a path of several lines")
        self._process.stdin.write(name.encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().decode()
        if not answer:
            raise AbsentError("git cannot read the mirror")
        words = answer.rsplit(" ", 2)
        if answer.endswith((" missing\n", " ambiguous\n")) or len(words) != 3:
            return None
        size = int(words[2])
        content = self._process.stdout.read(size)
        self._process.stdout.read(1)
        return words[1], content

    def read(self, blob="", branch="", path=""):
        """(content, blob id): the blob if its id is given, otherwise the file at `path` on `branch`, by default
        HEAD."""
        if blob:
            found = self._read(blob)
            if found is None:
                is_there = self._read(f"HEAD:{path}") is not None
                raise AbsentError("the path has other content" if is_there else "the blob is not in the mirror")
        else:
            names = [branch, f"refs/remotes/origin/{branch}"] if branch else ["HEAD"]
            found = next(filter(None, (self._read(f"{name}:{path}") for name in names)), None)
            if found is None:
                raise AbsentError("the path is not in the mirror")
        kind, content = found
        if kind != "blob":
            raise AbsentError(f"a {kind}, not a file")
        actual = blob_id(content)
        if blob and actual != blob:
            raise AbsentError(f"the content has the id {actual}")
        if content.startswith(LFS_POINTER):
            raise AbsentError("a pointer to large file storage")
        return content, actual
