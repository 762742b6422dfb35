// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { ownSchemas } from '../../base/config/own-schemas.js';
import { makeFolder, replaceFile } from '../data-folder/durable-file.js';
import { locked } from '../data-folder/file-lock.js';
import { formatVersion, NewerFormatError } from '../data-folder/format-version.js';
import { type OperatingPoint, type OperatingPointFile, operatingPointFileSchema } from './operating-point.js';

/** The operating points on disk cannot be used; the message names the file and what is wrong with it. */
export class OperatingPointFileError extends Error {
  override readonly name = 'OperatingPointFileError';
}

const VERSION = 1;

const fileIn = (dataDir: string): string => path.join(dataDir, 'operating-points.json');

/**
 * All operating points of a data folder; none if it has no such file.
 * @throws OperatingPointFileError
 */
export function readOperatingPoints(dataDir: string): readonly OperatingPoint[] {
  const file = fileIn(dataDir);
  const damaged = (problem: string, cause?: unknown): OperatingPointFileError =>
    new OperatingPointFileError(
      `The operating points in ${file} cannot be used: ${problem}. Restore the file, or delete it and calibrate again.`,
      { cause },
    );
  let value: unknown;
  try {
    value = JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw damaged((error as Error).message, error);
  }
  try {
    formatVersion(value, VERSION);
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

/**
 * Adds a point, in place of one with the same name for the same model; two that are added at the same time are both there.
 * @returns the point that it replaces
 * @throws OperatingPointFileError
 */
export async function saveOperatingPoint(
  dataDir: string,
  point: OperatingPoint,
): Promise<OperatingPoint | undefined> {
  makeFolder(dataDir);
  return locked(path.join(dataDir, 'operating-points.lock'), async () => {
    const known = readOperatingPoints(dataDir);
    const isSame = ({ name, model }: OperatingPoint): boolean => name === point.name && model === point.model;
    const points = [...known.filter((other) => !isSame(other)), point];
    const content: OperatingPointFile = { version: VERSION, points };
    replaceFile(fileIn(dataDir), `${JSON.stringify(content, undefined, 2)}\n`);
    return known.find(isSame);
  });
}
