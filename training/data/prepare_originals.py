# SPDX-License-Identifier: Apache-2.0
"""Read the recordings of a list of sources from git mirrors, as their authors published them.

    python3 -m data.prepare_originals --sources FOLDER --mirrors FOLDER --out FOLDER [--corpus FOLDER] [--clone]
        [--terms open ..] [--jobs 2]

--sources has sources.csv, --mirrors bare git mirrors; with --clone missing ones are cloned. A recording missing from
the mirrors is taken from --corpus, if that has a coded copy. Writes per repository OWNER+NAME.i16 (mono int16 at the
original rate, at most 48 kHz) and OWNER+NAME.csv into --out, outside the repository, and absent.csv with the missing
recordings and the reasons. A restart continues with the missing repositories, and retries incomplete ones.
"""

import argparse
import struct
import subprocess
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from scipy.signal import resample_poly

from data.mirrors import HOST, AbsentError, Mirror, clone, find_mirror
from data.originals_cache import MAX_RATE_HZ, OWN_FIELDS, file_stem, read_table, write_table

TERMS = ["open", "none stated", "noncommercial"]
BATCH = 40
MIN_SECONDS = 0.25
ABSENT_FIELDS = ["repository", "path", "start_s", "split", "label", "reason", "taken_from_corpus"]


def read_decoded(path):
    """(rate, int16 [n]) of a mono AU file of 16 bits, at most MAX_RATE_HZ."""
    data = path.read_bytes()
    _, start, _, _, rate_hz, _ = struct.unpack(">6I", data[:24])
    samples = np.frombuffer(data[start:], dtype=">i2").astype(np.int16)
    if rate_hz > MAX_RATE_HZ:
        divisor = np.gcd(rate_hz, MAX_RATE_HZ)
        lower = resample_poly(samples.astype(np.float64), MAX_RATE_HZ // divisor, rate_hz // divisor)
        samples, rate_hz = np.clip(np.rint(lower), -32768, 32767).astype(np.int16), MAX_RATE_HZ
    return rate_hz, samples


def decode(files, folder):
    """[(rate, int16 [n]) or None] of [(path, clip)]: one ffmpeg for all, or one for each if one of them cannot be
    decoded."""
    inputs, outputs = [], []
    for index, (path, clip) in enumerate(files):
        part = ["-ss", clip["start_s"], "-to", clip["end_s"]] if clip["start_s"] else []
        inputs += [*part, "-i", str(path)]
        outputs += ["-map", f"{index}:a:0", "-ac", "1", "-c:a", "pcm_s16be", "-f", "au", f"{folder}/decoded-{index}"]
    done = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-y", "-threads", "1", *inputs, *outputs], stderr=subprocess.DEVNULL
    )
    if done.returncode == 0:
        return [read_decoded(Path(folder, f"decoded-{index}")) for index in range(len(files))]
    return [None] if len(files) == 1 else [decode([file], folder)[0] for file in files]


def read_repository(clips, git_directory, corpus):
    """(rows, samples of each, absent rows)"""
    rows, audio, absent = [], [], []

    def give_up(clip, reason):
        copy = corpus and clip["corpus_path"] and corpus / clip["corpus_path"]
        is_copied = bool(copy) and copy.is_file()
        absent.append({**clip, "reason": reason, "taken_from_corpus": "yes" if is_copied else "no"})
        if is_copied:
            (decoded,) = decode([(copy, {"start_s": ""})], folder)  # the copy already contains only the part
            keep(clip, decoded, "corpus")

    def keep(clip, decoded, origin):
        rate_hz, samples = decoded
        rows.append({**clip, "origin": origin, "rate_hz": rate_hz, "samples": len(samples)})
        audio.append(samples)

    with tempfile.TemporaryDirectory() as folder:
        if git_directory is None:
            for clip in clips:
                give_up(clip, "no mirror")
            return rows, audio, absent
        with Mirror(git_directory) as mirror:
            for first in range(0, len(clips), BATCH):
                files = []
                for index, clip in enumerate(clips[first : first + BATCH]):
                    try:
                        content, blob = mirror.read(clip["blob"], clip["branch"], clip["path"])
                    except AbsentError as reason:
                        give_up(clip, str(reason))
                        continue
                    path = Path(folder, f"{index}{Path(clip['path']).suffix}")
                    path.write_bytes(content)
                    files.append((path, {**clip, "blob": blob}))
                for (_, clip), decoded in zip(files, decode(files, folder) if files else []):
                    if decoded is None or len(decoded[1]) < MIN_SECONDS * decoded[0] or not decoded[1].any():
                        give_up(clip, "cannot be decoded" if decoded is None else "empty")
                    else:
                        keep(clip, decoded, "mirror")
    return rows, audio, absent


def prepare_repository(repository, clips, options, fields):
    """Absent rows; writes nothing until the whole repository is read."""
    git_directory = find_mirror(options.mirrors, repository)
    if git_directory is None and options.clone:
        git_directory = clone(options.mirrors, repository, options.clone_from)
    rows, audio, absent = read_repository(clips, git_directory, options.corpus and Path(options.corpus))
    offset = 0
    for row in rows:
        row["offset"] = offset
        offset += row["samples"]
    stem = Path(options.out) / file_stem(repository)
    if rows:
        partial = stem.with_name(stem.name + ".i16.partial")
        np.concatenate(audio).tofile(partial)
        partial.replace(stem.with_name(stem.name + ".i16"))
        write_table(stem.with_name(stem.name + ".csv"), [*fields, *OWN_FIELDS], rows)
    return absent


def is_complete(repository, clips, out):
    table = Path(out) / f"{file_stem(repository)}.csv"
    if not table.is_file():
        return False
    rows = read_table(table)
    return len(rows) == len(clips) and all(row["origin"] == "mirror" for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", required=True)
    parser.add_argument("--mirrors", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--corpus")
    parser.add_argument("--clone", action="store_true")
    parser.add_argument("--clone-from", default=HOST, help="what stands before OWNER/NAME")
    parser.add_argument(
        "--terms", nargs="+", choices=TERMS, default=TERMS, help="open: openly licensed recordings only"
    )
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    listed = read_table(Path(options.sources) / "sources.csv")
    by_repository = defaultdict(list)
    for clip in listed:
        if clip["terms"] in options.terms and not (clip["terms"] == "noncommercial" and clip["split"] == "train"):
            by_repository[clip["repository"]].append(clip)
    wanted = [(name, clips) for name, clips in by_repository.items() if not is_complete(name, clips, out)]
    absent = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for lacking in pool.map(lambda item: prepare_repository(*item, options, list(listed[0])), wanted):
            absent += lacking
    write_table(out / "absent.csv", ABSENT_FIELDS, absent)
    wanted = sum(map(len, by_repository.values()))
    print(f"{wanted - len(absent)} of {wanted} recordings from mirrors")
    for (reason, copied), count in Counter((row["reason"], row["taken_from_corpus"]) for row in absent).most_common():
        print(f"{count} absent: {reason}{', taken from the corpus' if copied == 'yes' else ''}")


if __name__ == "__main__":
    main()
