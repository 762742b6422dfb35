// SPDX-License-Identifier: Apache-2.0

export const PREFERRED_MODEL = 'apollo-4-5-2026-03-26';
/** Serves `/v1/predict/large-file` and v0 only. */
export const LARGE_FILE_MODEL = 'apollo-4-2025-10-20';

/** The names of a detector. The interface's names are aliases, so that better weights can answer to them later. */
export interface DetectorNames {
  /** Of these weights and no others. */
  readonly id: string;
  readonly aliases: readonly string[];
}

/** Every name for `model` in a request, ids last. */
export const namesOf = (detectors: readonly DetectorNames[]): readonly string[] => [
  ...detectors.flatMap(({ aliases }) => aliases),
  ...detectors.map(({ id }) => id),
];

export const answersTo = ({ id, aliases }: DetectorNames, name: string): boolean =>
  id === name || aliases.includes(name);

/** The detector of requests without `model`: the interface's, or the first one if the operator runs others. */
export function defaultModel(detectors: readonly DetectorNames[]): string {
  const isLoaded = detectors.some((detector) => answersTo(detector, PREFERRED_MODEL));
  return isLoaded ? PREFERRED_MODEL : (detectors[0] as DetectorNames).id;
}

/** The names of the detector for large files; empty on a server without one. */
export function largeFileModels(detectors: readonly DetectorNames[]): readonly string[] {
  const detector = detectors.find((candidate) => answersTo(candidate, LARGE_FILE_MODEL));
  return detector === undefined ? [] : [...new Set([LARGE_FILE_MODEL, detector.id])];
}
