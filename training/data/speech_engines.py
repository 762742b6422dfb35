# SPDX-License-Identifier: Apache-2.0
"""Clips of the speech engines that Debian packages, as further systems of spoofs.

    python3 -m data.speech_engines --out FOLDER [--clips-per-voice 16] [--engines espeak-ng flite festival pico] [--jobs
        2]

Writes clean.i16 (mono 16 kHz int16) and clips.csv, for --more-clips of data/prepare_corpus.py. README.md names the
packages. Speed and pitch vary as far as an engine allows.
"""

import argparse
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from data.corpus_cache import write_clips
from data.engine_sentences import sentences
from data.prepare_corpus import decode_batch
from features.recipe import SAMPLE_RATE_HZ

MIN_SAMPLES, MAX_SAMPLES = 2 * SAMPLE_RATE_HZ, 10 * SAMPLE_RATE_HZ


def run_espeak(voice, _, text, path, rng):
    subprocess.run(
        [
            "espeak-ng",
            "-v",
            voice,
            "-s",
            str(rng.integers(130, 211)),
            "-p",
            str(rng.integers(25, 76)),
            "-w",
            path,
            text,
        ],
        check=True,
    )


def run_flite(voice, _, text, path, rng):
    subprocess.run(
        [
            "flite",
            "-voice",
            voice,
            "--setf",
            f"duration_stretch={rng.uniform(0.8, 1.25):.2f}",
            "--setf",
            f"int_f0_target_mean={rng.uniform(85, 210):.0f}",
            "-t",
            text,
            "-o",
            path,
        ],
        check=True,
    )


def run_festival(voice, encoding, text, path, rng):
    subprocess.run(
        [
            "text2wave",
            "-eval",
            f"(voice_{voice})",
            "-eval",
            f"(Parameter.set 'Duration_Stretch {rng.uniform(0.8, 1.25):.2f})",
            "-o",
            path,
        ],
        input=text.encode(encoding, "replace"),
        check=True,
    )


def run_pico(voice, _, text, path, rng):
    marked = f'<pitch level="{rng.integers(75, 131)}"><speed level="{rng.integers(75, 126)}">{text}</speed></pitch>'
    subprocess.run(["pico2wave", "-l", voice, "-w", path, marked], check=True)


# engine: (program, function, [(voice, language of the text, its encoding)])
ENGINES = {
    "espeak-ng": (
        "espeak-ng",
        run_espeak,
        [
            ("en-us", "en", None),
            ("en-us+f3", "en", None),
            ("en-gb-x-rp+klatt2", "en", None),
            ("en-gb-scotland+m4", "en", None),
            ("de", "de", None),
            ("es", "es", None),
            ("es-419+f2", "es", None),
            ("pt-br", "pt", None),
            ("fr-fr+klatt4", "fr", None),
            ("hi", "hi", None),
            ("ru+f5", "ru", None),
        ],
    ),
    "flite": (
        "flite",
        run_flite,
        [("kal16", "en", None), ("awb", "en", None), ("rms", "en", None), ("slt", "en", None)],
    ),
    "festival": (
        "text2wave",
        run_festival,
        [
            ("kal_diphone", "en", "ascii"),
            ("ked_diphone", "en", "ascii"),
            ("cmu_us_slt_arctic_hts", "en", "ascii"),
            ("lp_diphone", "it", "iso-8859-1"),
            ("pc_diphone", "it", "iso-8859-1"),
            ("upc_ca_ona_hts", "ca", "iso-8859-15"),
            ("hy_fi_mv_diphone", "fi", "iso-8859-15"),
            ("suo_fi_lj_diphone", "fi", "iso-8859-15"),
            ("czech_dita", "cs", "iso-8859-2"),
            ("czech_ph", "cs", "iso-8859-2"),
            ("hindi_NSK_diphone", "hi", "utf-8"),
            ("msu_ru_nsh_clunits", "ru", "utf-8"),
        ],
    ),
    "pico": (
        "pico2wave",
        run_pico,
        [
            ("en-US", "en", None),
            ("en-GB", "en", None),
            ("de-DE", "de", None),
            ("es-ES", "es", None),
            ("fr-FR", "fr", None),
            ("it-IT", "it", None),
        ],
    ),
}


def speak(run, voice, language, encoding, rng):
    """int16 of 2 to 10 s: adds sentences until it is long enough, and cuts it if too long."""
    with tempfile.TemporaryDirectory() as folder:
        for count in range(int(rng.integers(1, 4)), 10):
            path = f"{folder}/{count}.wav"
            run(voice, encoding, sentences(language, count, rng), path, rng)
            (samples,) = decode_batch([Path(path)])
            if len(samples) >= MIN_SAMPLES:
                return samples[:MAX_SAMPLES]
    raise RuntimeError(f"{voice} says nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--clips-per-voice", type=int, default=16)
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=20260327)
    options = parser.parse_args()
    missing = [ENGINES[engine][0] for engine in options.engines if not shutil.which(ENGINES[engine][0])]
    if missing:
        parser.error(
            f"not installed: {', '.join(missing)} (README.md names the packages; --engines leaves engines out)"
        )

    tasks = []
    for engine in options.engines:
        _, run, voices = ENGINES[engine]
        for voice, language, encoding in voices:
            system = f"{engine}-{voice.replace('+', '-')}"
            for number in range(options.clips_per_voice):
                clip = {
                    "path": f"{system}/{number}",
                    "label": "spoof",
                    "split": "train",
                    "system": system,
                    "source": f"debian/{engine}",
                    "speaker": system,
                    "category": "speech-engine",
                    "original_format": "WAV/PCM_16/1ch",
                    "language": language,
                }
                # A generator for each clip: the threads finish in any order.
                seed = [options.seed, *system.encode(), number]
                tasks.append((clip, run, voice, language, encoding, np.random.default_rng(seed)))
    with ThreadPoolExecutor(options.jobs) as pool:
        audio = list(pool.map(lambda task: speak(*task[1:]), tasks))
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    write_clips(out, [task[0] for task in tasks], audio)
    systems, minutes = {task[0]["system"] for task in tasks}, sum(map(len, audio)) / SAMPLE_RATE_HZ / 60
    print(f"{len(audio)} clips of {len(systems)} voices, {minutes:.0f} min")


if __name__ == "__main__":
    main()
