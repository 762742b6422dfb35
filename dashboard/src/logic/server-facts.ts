// SPDX-License-Identifier: Apache-2.0

/** A served detector, as far as the page needs it. */
export interface DetectorFacts {
  /** Exact id. */
  readonly id: string;
  readonly aliases: readonly string[];
  /** Global confidences below are `uncertain`; undefined if the server does not say. */
  readonly uncertainBelow?: number | undefined;
  readonly operatingPoints: readonly { readonly name: string; readonly threshold: number }[];
}

export interface ServerFacts {
  /** What requests may call the detectors. */
  readonly modelNames: readonly string[];
  readonly defaultModel: string;
  readonly threshold: number;
  readonly silenceThresholdPercent: number;
  /** The largest file that is analysed at once. */
  readonly maxFileBytes: number;
  readonly detectors: readonly DetectorFacts[];
}

type Json = { readonly [name: string]: unknown };

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** The value at a path in an OpenAPI document, through its references. */
function at(document: unknown, ...path: readonly string[]): unknown {
  let value = document;
  for (const name of path) {
    value = isJson(value) ? value[name] : undefined;
    const reference = isJson(value) ? value.$ref : undefined;
    if (typeof reference === 'string') value = at(document, ...reference.split('/').slice(1));
  }
  return value;
}

const form = ['paths', '/v1/predict', 'post', 'requestBody', 'content', 'multipart/form-data', 'schema'];

/**
 * What the server says of itself in its OpenAPI document.
 * @throws Error if it is no document of this service
 */
export function serverFacts(document: unknown, detectors: readonly DetectorFacts[]): ServerFacts {
  const field = (...path: readonly string[]): unknown => at(document, ...form, 'properties', ...path);
  const names = field('model', 'enum');
  const defaultModel = field('model', 'default');
  const maxFileBytes = field('file', 'x-max-bytes');
  const threshold = field('threshold', 'default');
  const silenceThresholdPercent = field('silence_threshold', 'default');
  if (
    !Array.isArray(names) ||
    typeof defaultModel !== 'string' ||
    typeof maxFileBytes !== 'number' ||
    typeof threshold !== 'number' ||
    typeof silenceThresholdPercent !== 'number'
  ) {
    throw new Error('The server does not describe its analyses as this page expects.');
  }
  return {
    modelNames: names.map(String),
    defaultModel,
    maxFileBytes,
    threshold,
    silenceThresholdPercent,
    detectors,
  };
}

export const detectorNamed = (
  { detectors }: Pick<ServerFacts, 'detectors'>,
  name: string,
): DetectorFacts | undefined => detectors.find(({ id, aliases }) => id === name || aliases.includes(name));
