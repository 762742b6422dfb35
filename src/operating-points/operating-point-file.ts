// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { ownSchemas } from '../config/own-schemas.js';
import { type OperatingPoint, type OperatingPointFile, operatingPointFileSchema } from './operating-point.js';

/** The operating points on disk cannot be used; the message names the file and what is wrong with it. */
export class OperatingPointFileError extends Error {
  override readonly name = 'OperatingPointFileError';
}

const fileIn = (dataDir: string): string => path.join(dataDir, 'operating-points.json');

/**
 * All operating points of a data folder; none where it has no such file.
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
  const isPointFile = new Ajv(ownSchemas).compile<OperatingPointFile>(operatingPointFileSchema);
  if (!isPointFile(value)) {
    const [problem] = isPointFile.errors ?? [];
    throw damaged(`${problem?.instancePath || 'the file'} ${problem?.message}`);
  }
  const keys = value.points.map(({ name, model }) => `${name} of ${model}`);
  const twice = keys.find((key, i) => keys.indexOf(key) !== i);
  if (twice !== undefined) throw damaged(`${twice} is there twice`);
  return value.points;
}

/**
 * Adds a point, in place of one with the same name for the same model. The file is written whole under another name and
 * renamed, so that a reader never sees half of it.
 * @returns the point that it replaces
 * @throws OperatingPointFileError
 */
export function saveOperatingPoint(dataDir: string, point: OperatingPoint): OperatingPoint | undefined {
  const known = readOperatingPoints(dataDir);
  const isSame = ({ name, model }: OperatingPoint): boolean => name === point.name && model === point.model;
  const points = [...known.filter((other) => !isSame(other)), point];
  const content: OperatingPointFile = { version: 1, points };
  fs.mkdirSync(dataDir, { recursive: true });
  const temporary = `${fileIn(dataDir)}.${randomUUID()}.tmp`;
  try {
    fs.writeFileSync(temporary, `${JSON.stringify(content, undefined, 2)}\n`, { flush: true });
    fs.renameSync(temporary, fileIn(dataDir));
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
  return known.find(isSame);
}
