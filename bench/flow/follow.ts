// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { bytesIn, DiskPeak, MemoryPeak } from './footprint.js';
import type { Installation } from './installation.js';

const run = promisify(execFile);

async function curl(...args: readonly string[]): Promise<string> {
  const options = ['--silent', '--show-error', '--fail-with-body'];
  const { stdout } = await run('curl', [...options, ...args], { maxBuffer: 64 * 2 ** 20 });
  return stdout;
}

/** What a client does, with curl alone. */
export class CurlClient {
  readonly #origin: string;
  readonly #key: readonly string[];

  constructor({ origin, apiKey }: Installation) {
    this.#origin = origin;
    this.#key = ['--header', `x-api-key: ${apiKey}`];
  }

  async ask(path: string, json?: object) {
    const body = json === undefined ? [] : ['--json', JSON.stringify(json)];
    return JSON.parse(await curl(...this.#key, ...body, `${this.#origin}${path}`));
  }

  async upload(key: string, file: string): Promise<void> {
    const { url } = await this.ask('/v1/file', { keys: [key], entity: 'analysis' });
    await curl('--upload-file', file, url[0].value);
  }

  /** Waits for it. */
  async result(key: string) {
    const query = `key_prefix=${encodeURIComponent(key)}&entity=results`;
    for (;;) {
      const { url } = await this.ask(`/v1/file?${query}`);
      if (url.length > 0) return JSON.parse(await curl(url[0].value));
      await pause(200);
    }
  }

  /** A job of a recording that is too small to be analysed by itself. */
  async job(key: string): Promise<void> {
    const { id } = await this.ask('/v1/jobs', { key });
    for (;;) {
      const { state, error } = await this.ask(`/v1/jobs/${id}`);
      if (state === 'succeeded') return;
      if (error !== null) throw new Error(`The short job failed: ${JSON.stringify(error)}`);
      await pause(100);
    }
  }
}

const MIB = 2 ** 20;
const rounded = (value: number, digits = 1): number => Number(value.toFixed(digits));

/** Sends a recording, waits for its result, and watches who works. @param workerMib what the worker has had in a short job */
export async function follow(
  installation: Installation,
  { key, file, bytes, workerMib }: { key: string; file: string; bytes: number; workerMib: number },
) {
  const client = new CurlClient(installation);
  const worker = new MemoryPeak(installation.worker.pid);
  const storage = new MemoryPeak(installation.storage.pid);
  const isOneProcess = installation.worker === installation.storage;
  storage.reset();
  const storageBeforeMib = storage.mib;
  const diskBefore = installation.workerFolders.reduce((sum, folder) => sum + bytesIn(folder), 0);
  const disk = new DiskPeak(installation.workerFolders);

  const startedMs = performance.now();
  await client.upload(key, file);
  const uploadedMs = performance.now();
  const uploadGrowthMib = storage.mib - storageBeforeMib;
  worker.reset();
  const result = await client.result(key);
  const analysedMs = performance.now();
  const jobGrowthMib = worker.mib - workerMib;
  const diskGrowth = disk.stop() - diskBefore - (isOneProcess ? bytes : 0);
  if (result.global === undefined) throw new Error(`${key}: ${JSON.stringify(result).slice(0, 500)}`);

  const hours = result.audio_duration / 3600;
  const tookS = (analysedMs - uploadedMs) / 1000;
  const figures = {
    file: key,
    megabytes: rounded(bytes / 1e6),
    audioHours: rounded(hours, 2),
    windows: result.segments.length,
    uploadS: rounded((uploadedMs - startedMs) / 1000),
    resultAfterS: rounded(tookS),
    secondsPerHourOfAudio: rounded(tookS / hours, 2),
    memoryMiB: {
      workerAfterShortJob: rounded(workerMib),
      growthInJob: rounded(jobGrowthMib),
      growthOfStorageInUpload: rounded(uploadGrowthMib),
    },
    workerDiskMiB: rounded(diskGrowth / MIB),
  };
  const { prediction_id: _, processing_time: __, ...verdict } = result;
  return { figures, verdict };
}
