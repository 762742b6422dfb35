# SPDX-License-Identifier: Apache-2.0
"""Copies of human training originals, at the rate of the generator, for data.prepare_chains.

    python3 -m resynthesis.make_copies --material MATERIAL --run RUN [--decoder RUN] --out COPIES [--copies 400]
        [--device cuda]

One call is one system: COPIES/SYSTEM has the tables and samples of data.originals_cache, and every copy the repository
and path of its recording. Each copy draws its weights (of those after a third of the training), its bands, its
codebooks, and whether part of the recording stays in it. Existing folders of systems are kept.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from data.originals_cache import OWN_FIELDS, file_stem, write_table
from data.prepare_corpus import choose_clips_to_copy
from features.recipe import SAMPLE_RATE_HZ
from resynthesis.copier import Copier, draw_analysis, draw_blend, kept_steps, load_generator
from resynthesis.material import Material

EARLIEST_SHARE = 0.3  # share of the last kept step: earlier weights buzz
ADDED_FIELDS = {"label": "spoof", "category": "own-copy-synthesis", "origin": "copy"}


def system_name(settings, decoder_settings=None):
    """Features by which training distinguishes systems: other sizes and seeds are other systems."""
    parts = [one for one in (decoder_settings, settings) if one]
    return "copy-neural-" + "-".join(f"{one['name']}-{one['size']}-{one['seed']}" for one in parts)


def choose_clips(material, count, seed):
    clips = [{**clip, "source": clip["repository"]} for clip in material.clips]
    lengths = [range(clip["samples"] * SAMPLE_RATE_HZ // material.rate_hz) for clip in clips]
    return [clips[index] for index in choose_clips_to_copy(clips, lengths, count, np.random.default_rng(seed))]


def useful_steps(run):
    steps = kept_steps(run)
    return [step for step in steps if step >= EARLIEST_SHARE * steps[-1]]


def copy_all(copiers, material, clips, seed):
    """(clip, int16 copy) of each clip, by one of `copiers` each."""
    for number, clip in enumerate(clips):
        rng = np.random.default_rng([seed, number])
        copier = copiers[rng.integers(len(copiers))]
        books = int(rng.integers(1, copier.books + 1)) if copier.books else None
        human, pulses = material.samples(clip), material.pulses(clip)
        made = copier.copy(human, pulses, int(rng.integers(2**31)), draw_analysis(rng), books, draw_blend(rng))
        if not np.all(np.isfinite(made)):
            raise ValueError(f"the copy of {clip['repository']}/{clip['path']} is not finite")
        yield clip, np.rint(made * 32767).astype(np.int16)


def write_copies(folder, system, made, rate_hz):
    """Writes tables last, so that a repository with a table is complete."""
    by_repository = defaultdict(list)
    for clip, samples in made:
        by_repository[clip["repository"]].append((clip, samples))
    partial = folder.with_name(f"{folder.name}.partial")
    partial.mkdir(parents=True, exist_ok=True)
    for repository, copies in by_repository.items():
        rows, offset = [], 0
        for clip, samples in copies:
            own = {"system": system, "family": system, "rate_hz": rate_hz, "offset": offset, "samples": len(samples)}
            rows.append({**clip, **ADDED_FIELDS, **own})
            offset += len(samples)
        np.concatenate([samples for _, samples in copies]).tofile(partial / f"{file_stem(repository)}.i16")
        fields = [field for field in rows[0] if field not in (*OWN_FIELDS, "source", "track_offset")]
        write_table(partial / f"{file_stem(repository)}.csv", fields + OWN_FIELDS, rows)
    partial.rename(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--material", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--decoder", help="run of a mel-decoder whose energies the generator hears")
    parser.add_argument("--out", required=True)
    parser.add_argument("--copies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    steps = useful_steps(options.run)
    loaded = [load_generator(options.run, step, options.device) for step in steps]
    settings = loaded[0][1]
    decoder, decoder_settings = (
        load_generator(options.decoder, None, options.device) if options.decoder else (None,) * 2
    )
    system = system_name(settings, decoder_settings)
    folder = Path(options.out, system)
    if folder.exists():
        return
    rate_hz = settings["frames"]["rate_hz"]
    material = Material(Path(options.material, str(rate_hz)))
    copiers = [Copier(generator, rate_hz, decoder, options.device) for generator, _ in loaded]
    # Each system copies other recordings, so that the detector hears many.
    clips = choose_clips(material, options.copies, [options.seed, *system.encode()])
    write_copies(folder, system, copy_all(copiers, material, clips, options.seed), rate_hz)
    print(f"{system}: {len(clips)} copies")


if __name__ == "__main__":
    main()
