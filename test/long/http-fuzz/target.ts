// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerProcess, startServer } from '../../../bench/support/server-process.js';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { answersTo, type DetectorNames, LARGE_FILE_MODEL } from '../../../src/base/contract/model-ids.js';
import { filePart, formBytes } from './framing.js';
import type { Surroundings } from './input.js';
import { formType } from './media-inputs.js';
import type { SeedFiles } from './seed-files.js';

const settings = {
  VERAVOX_SCORING_THREADS: '1',
  VERAVOX_LOG_LEVEL: 'info',
  VERAVOX_RECEIVE_TIMEOUT_MS: '10000',
  // Longer than the run.
  VERAVOX_STORAGE_LINK_LIFETIME_S: '86400',
};

/** A models folder with the smallest detector, for all routes, and the speaker model. */
function smallModels(folder: string): string {
  const shipped = join(packageDir, 'models');
  const manifest: {
    models: (DetectorNames & { task: string; file: string; gpu?: { file: string } })[];
  } = JSON.parse(readFileSync(join(shipped, 'manifest.json'), 'utf8'));
  const models = manifest.models.filter(
    (model) => answersTo(model, LARGE_FILE_MODEL) || model.task === 'speaker',
  );
  const modelsDir = join(folder, 'models');
  mkdirSync(modelsDir, { recursive: true });
  writeFileSync(join(modelsDir, 'manifest.json'), JSON.stringify({ ...manifest, models }));
  const files = models.flatMap(({ file, gpu }) => (gpu === undefined ? [file] : [file, gpu.file]));
  for (const file of ['known-answers', ...files]) {
    symlinkSync(join(shipped, file), join(modelsDir, file));
  }
  return modelsDir;
}

export async function startTarget(folder: string): Promise<ServerProcess> {
  return startServer(join(folder, 'data'), { ...settings, VERAVOX_MODELS_DIR: smallModels(folder) });
}

/** Links, a voiceprint and a stored file of the server. */
export async function surroundingsOf(server: ServerProcess, files: SeedFiles): Promise<Surroundings> {
  const base = `http://127.0.0.1:${server.port}`;
  const headers = { 'x-api-key': server.apiKey };
  const ask = async (path: string, init: RequestInit) => {
    const response = await fetch(`${base}${path}`, { ...init, headers: { ...headers, ...init.headers } });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const upload = await ask('/v1/file', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ keys: ['fuzz'], entity: 'analysis' }),
  });
  const uploadLink: string = upload.url[0].value;
  const stored = files.short.find(({ name }) => name.endsWith('.flac'));
  if (stored === undefined) throw new Error('There is no FLAC among the seed files.');
  await fetch(uploadLink, { method: 'PUT', body: stored.bytes });
  const download = await ask('/v1/file?key_prefix=fuzz&entity=analysis', {});
  const voice = files.voice[0];
  if (voice === undefined) throw new Error('There is no voice among the seed files.');
  const boundary = formType.slice(formType.indexOf('=') + 1);
  const { embedding } = await ask('/v1/voiceid/enroll', {
    method: 'POST',
    headers: { 'content-type': formType },
    body: formBytes(boundary, [filePart('audio_file', voice.bytes)]),
  });
  return {
    host: `127.0.0.1:${server.port}`,
    apiKey: server.apiKey,
    voiceVector: JSON.stringify(embedding),
    uploadLink,
    downloadLink: download.url[0].value,
  };
}
