// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import { Ajv } from 'ajv';
import { ownSchemas } from '../../base/config/own-schemas.js';
import { formatVersion, NewerFormatError } from '../data-folder/format-version.js';
import {
  type OperatingPoint,
  type OperatingPointFile,
  operatingPointFileSchema,
  POINT_FILE_VERSION,
} from './operating-point.js';

/** The operating points on disk cannot be used; the message names the file and the fault. */
export class OperatingPointFileError extends Error {
  override readonly name = 'OperatingPointFileError';
}

/**
 * All points of a file.
 * @throws OperatingPointFileError, or the file system's error if it cannot be read
 */
export function readPointFile(file: string): readonly OperatingPoint[] {
  const damaged = (problem: string, cause?: unknown): OperatingPointFileError =>
    new OperatingPointFileError(
      `The operating points in ${file} cannot be used: ${problem}. Restore the file, or delete it and calibrate again.`,
      { cause },
    );
  const text = fs.readFileSync(file, 'utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
    formatVersion(value, POINT_FILE_VERSION);
  } catch (error) {
    if (!(error instanceof NewerFormatError)) throw damaged((error as Error).message, error);
    throw new OperatingPointFileError(`The operating points in ${file} cannot be read: ${error.message}`, {
      cause: error,
    });
  }
  const isPointFile = new Ajv(ownSchemas).compile<OperatingPointFile>(operatingPointFileSchema);
  if (!isPointFile(value)) {
    const [problem] = isPointFile.errors ?? [];
    throw damaged(`${problem?.instancePath || 'the file'} ${problem?.message}`);
  }
  const keys = value.points.map(({ name, model }) => `${name} of ${model}`);
  const twice = keys.find((key, i) => keys.indexOf(key) !== i);
  if (twice !== undefined) throw damaged(`${twice} appears twice`);
  return value.points;
}
