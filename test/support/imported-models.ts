// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { packageDir } from '../../src/base/config/package-dir.js';
import { temporaryFolder } from './temporary-folder.js';

/** Small models with random weights: see test/reference/imported_models.py. */
export const importedModelsDir = path.join(packageDir, 'test/reference/imported-models');

// biome-ignore lint/suspicious/noExplicitAny: tests set arbitrary members of an entry, wrong ones above all
export type AnyEntry = any;

/** A copy of the folder in which `edit` may change the entries, by id. */
export function importedModels(
  test: TestContext,
  edit: (entries: Readonly<Record<string, AnyEntry>>, folder: string) => void = () => {},
): string {
  const folder = temporaryFolder(test);
  fs.cpSync(importedModelsDir, folder, { recursive: true });
  editManifest(folder, (models) => {
    edit(Object.fromEntries(models.map((entry) => [entry.id, entry])), folder);
  });
  return folder;
}

export function editManifest(folder: string, edit: (models: AnyEntry[]) => void): void {
  const file = path.join(folder, 'manifest.json');
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8'));
  edit(manifest.models);
  fs.writeFileSync(file, JSON.stringify(manifest));
}

/** Writes another ONNX file for an entry. */
export function replaceFile(entry: AnyEntry, folder: string, content: Uint8Array): void {
  fs.writeFileSync(path.join(folder, entry.file), content);
  entry.sha256 = createHash('sha256').update(content).digest('hex');
}
