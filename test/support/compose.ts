// SPDX-License-Identifier: Apache-2.0
import fs from 'node:fs';
import path from 'node:path';
import { packageDir } from '../../src/base/config/package-dir.js';
import { type Stage, stagesOf } from './dockerfile.js';
import { readYaml } from './yaml.js';

export const deployDir = path.join(packageDir, 'deploy');

export interface Service {
  readonly image: string;
  readonly build?: string;
  readonly restart?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly (string | { readonly source: string; readonly target: string })[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly healthcheck?: unknown;
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

export const composeFile = (): Compose => readYaml(path.join(deployDir, 'compose.yml')) as Compose;

/** The stage of the Dockerfile that becomes the image. */
export function imageStage(): Stage {
  const image = stagesOf(fs.readFileSync(path.join(packageDir, 'Dockerfile'), 'utf8')).at(-1);
  if (image === undefined) throw new Error('The Dockerfile has no stage.');
  return image;
}
