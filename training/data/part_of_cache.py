# SPDX-License-Identifier: Apache-2.0
"""A cache with a part of another's training clips, to measure the benefit of more material, or of one kind.

    python3 -m data.part_of_cache --cache CACHE --out PART [--share 0.25]
        [--sources SOURCES [--terms open] [--in-corpus]]

--share keeps the pages whose names have the lowest hashes, so that a smaller share is part of a larger one. --terms and
--in-corpus follow sources.csv: recordings under these terms, and those with a clip in the coded corpus. A copy follows
its recording. Clips of `valid` all stay. The samples are links to those of CACHE.
"""

import argparse
import csv
import zlib
from pathlib import Path

from data.corpus_cache import PUBLISHED_COPIES, TABLE_FIELDS
from data.originals_cache import read_table, write_table
from features.recipe import SAMPLE_RATE_HZ


def place_of_page(source):
    """From 0 to 1, uniform over pages."""
    return zlib.crc32(f"part of {source}".encode()) / 2**32


def recording_of(clip):
    """`path` without the name of the copy's maker."""
    return clip["path"].split(":", 1)[1] if clip["category"] == "own-copy-synthesis" else clip["path"]


def rows_by_recording(sources):
    return {f"{row['repository']}/{row['path']}#{row['start_s']}": row for row in read_table(sources)}


def part_of(clips, share=1.0, wanted=lambda recording: True):
    return [
        clip
        for clip in clips
        if clip["split"] != "train" or (place_of_page(clip["source"]) < share and wanted(recording_of(clip)))
    ]


def link_samples(cache, out):
    for file in (*cache.glob("*.i16"), *cache.glob(PUBLISHED_COPIES)):
        link = out / file.name
        if not link.is_symlink():
            link.symlink_to(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--sources", help="the folder of sources.csv")
    parser.add_argument("--terms")
    parser.add_argument("--in-corpus", action="store_true")
    options = parser.parse_args()
    if (options.terms or options.in_corpus) and not options.sources:
        parser.error("--terms and --in-corpus need --sources")
    known = rows_by_recording(Path(options.sources) / "sources.csv") if options.sources else {}

    def wanted(recording):
        if not known:
            return True
        row = known[recording]
        return row["terms"] == (options.terms or row["terms"]) and bool(row["corpus_path"] or not options.in_corpus)

    cache, out = Path(options.cache).resolve(), Path(options.out)
    with open(cache / "clips.csv", newline="") as table:
        kept = part_of(list(csv.DictReader(table)), options.share, wanted)
    out.mkdir(parents=True, exist_ok=True)
    write_table(out / "clips.csv", TABLE_FIELDS, kept)
    link_samples(cache, out)
    train = [clip for clip in kept if clip["split"] == "train"]
    of_class = lambda label: [clip for clip in train if clip["label"] == label]
    hours = lambda clips: f"{sum(int(clip['samples']) for clip in clips) / SAMPLE_RATE_HZ / 3600:.1f} h"
    systems = {clip["system"] for clip in of_class("spoof")}
    print(
        f"{len(of_class('bonafide'))} human ({hours(of_class('bonafide'))}) and {len(of_class('spoof'))} generated"
        f" training clips ({hours(of_class('spoof'))}) of"
        f" {len({clip['source'] for clip in train})} pages and {len(systems)} systems"
    )


if __name__ == "__main__":
    main()
