// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { ownSchemas } from '../../base/config/own-schemas.js';
import type { AdminModelFigures } from '../../base/contract/model-figures.js';
import { detPoint, thresholdFigures } from '../../base/contract/model-figures.js';

/** Figures that need more room than the manifest has, beside the model: `<id>.figures.json`. */
export interface FiguresFile {
  readonly version: 1;
  /** Of the model that was measured. */
  readonly score_fingerprint: string;
  readonly human_clips: number;
  readonly generated_clips: number;
  readonly thresholds: NonNullable<AdminModelFigures['thresholds']>;
  readonly det: AdminModelFigures['det'];
}

const count = { type: 'integer', minimum: 0 };

/** JSON Schema (draft 7) of the file. */
const figuresFileSchema = {
  type: 'object',
  properties: {
    version: { const: 1 },
    score_fingerprint: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    human_clips: count,
    generated_clips: count,
    thresholds: { type: 'array', items: thresholdFigures },
    det: { type: ['array', 'null'], items: detPoint },
  },
  required: ['version', 'score_fingerprint', 'human_clips', 'generated_clips', 'thresholds', 'det'],
  additionalProperties: false,
};

let isFigures: ValidateFunction<FiguresFile> | undefined;

/** Undefined if there is no such file, or if it is not of the model with this fingerprint. */
export async function readFigures(
  modelsDir: string,
  id: string,
  scoreFingerprint: string,
): Promise<FiguresFile | undefined> {
  isFigures ??= new Ajv({ ...ownSchemas, allowUnionTypes: true }).compile<FiguresFile>(figuresFileSchema);
  const text = await readFile(join(modelsDir, `${id}.figures.json`), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isFigures(value) && value.score_fingerprint === scoreFingerprint ? value : undefined;
}
