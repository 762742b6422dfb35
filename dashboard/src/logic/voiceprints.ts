// SPDX-License-Identifier: Apache-2.0
//
// Voiceprints as the browser keeps them, and as a file.

/** A voiceprint with its owner's notes about it. */
export interface Voiceprint {
  /** Made by this page, unique in this browser. */
  readonly id: string;
  readonly name: string;
  readonly note: string;
  /** ISO 8601. */
  readonly created: string;
  /** The speaker model that made it: only this model can compare it. */
  readonly model: string;
  /** Seconds of speech behind it; null if unknown. */
  readonly speechS: number | null;
  readonly embedding: readonly number[];
}

export const FORMAT = 'veravox-voiceprints';
const VERSION = 1;
export const MAX_NAME_CHARS = 200;
const MAX_NOTE_CHARS = 2000;
const MAX_NUMBERS = 4096;
/** As many as one request to identify may list. */
export const MAX_VOICEPRINTS = 10_000;

/** The text of a file with voiceprints. */
export function fileOf(voiceprints: readonly Voiceprint[]): string {
  const entries = voiceprints.map(({ name, note, created, model, speechS, embedding }) => ({
    name,
    note,
    created,
    model_version: model,
    speech: speechS,
    embedding,
  }));
  return `${JSON.stringify({ format: FORMAT, version: VERSION, voiceprints: entries })}\n`;
}

/** Names the fault of a file. */
export class VoiceprintFileError extends Error {
  override readonly name = 'VoiceprintFileError';
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most;

const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MAX_NUMBERS &&
  value.every((number) => typeof number === 'number' && Number.isFinite(number));

function parsed(text: string): Members {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new VoiceprintFileError('The file is not JSON.');
  }
  if (!isObject(value)) throw new VoiceprintFileError('The file has no voiceprints.');
  return value;
}

/**
 * The voiceprints of a file that `fileOf` made, or of one answer of an enrolment.
 * @param newId makes an id for each
 * @throws VoiceprintFileError for anything else
 */
export function voiceprintsIn(
  text: string,
  fileName: string,
  newId: () => string,
  now: string,
): Voiceprint[] {
  const file = parsed(text);
  if (isNumbers(file.embedding) && isText(file.model_version, MAX_NAME_CHARS)) {
    const name = fileName.replace(/\.json$/i, '').slice(0, MAX_NAME_CHARS) || 'Imported';
    return [voiceprintOf({ ...file, name }, 1, newId, now)];
  }
  if (file.format !== FORMAT || !Array.isArray(file.voiceprints)) {
    throw new VoiceprintFileError(
      `Expected a file with the format ${FORMAT}, or the answer of an enrolment, but the file is neither.`,
    );
  }
  if (file.version !== VERSION) {
    throw new VoiceprintFileError('The file was made by a newer version of veravox.');
  }
  if (file.voiceprints.length > MAX_VOICEPRINTS) {
    throw new VoiceprintFileError(
      `The file has ${file.voiceprints.length} voiceprints; at most ${MAX_VOICEPRINTS} fit.`,
    );
  }
  return file.voiceprints.map((entry: unknown, i) => voiceprintOf(entry, i + 1, newId, now));
}

/** @param position in the file, from 1, for messages */
function voiceprintOf(entry: unknown, position: number, newId: () => string, now: string): Voiceprint {
  const wrong = (what: string) => new VoiceprintFileError(`Voiceprint ${position} of the file ${what}.`);
  if (!isObject(entry)) throw wrong('is not an object');
  const { name, note = '', created = now, model_version: model, speech = null, embedding } = entry;
  if (!isText(name, MAX_NAME_CHARS) || name === '') throw wrong('has no usable name');
  if (!isText(note, MAX_NOTE_CHARS)) throw wrong('has an unusable note');
  if (!isText(model, MAX_NAME_CHARS) || model === '') throw wrong('names no model');
  if (!isNumbers(embedding)) throw wrong('has no usable embedding');
  if (typeof created !== 'string' || Number.isNaN(Date.parse(created))) throw wrong('has no usable date');
  const speechS = typeof speech === 'number' && Number.isFinite(speech) && speech >= 0 ? speech : null;
  return { id: newId(), name, note, created, model, speechS, embedding };
}

/** Voiceprints of `more` that are not kept yet, by their numbers. */
export function newOnes(kept: readonly Voiceprint[], more: readonly Voiceprint[]): Voiceprint[] {
  const known = new Set(kept.map(({ embedding }) => embedding.join()));
  return more.filter(({ embedding }) => {
    const key = embedding.join();
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
}

/** The models of the voiceprints, the most frequent first. */
export function modelsOf(voiceprints: readonly Voiceprint[]): string[] {
  const counts = new Map<string, number>();
  for (const { model } of voiceprints) counts.set(model, (counts.get(model) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([model]) => model);
}
