// SPDX-License-Identifier: Apache-2.0
//
// Measures one core of a real host: the most answers per second, the time of single requests, and the latencies under
// loads that the simulation must reproduce.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageDir } from '../../src/base/config/package-dir.js';
import { formBody, formType } from '../support/form-body.js';
import { type PhaseOrder, type PhaseResult, runPhase } from '../support/overload-phase.js';
import { goodputPerS } from '../support/overload-report.js';
import type { ServerProcess } from '../support/server-process.js';

const CONNECTIONS = 16;

/** Speech of this length, as 16-bit WAV at 16 kHz. */
export function makeClip(folder: string, lengthS: number): Buffer {
  const file = join(folder, `${lengthS}.wav`);
  execFileSync('ffmpeg', [
    ...['-v', 'error', '-y', '-stream_loop', '-1', '-i', join(packageDir, 'test/fixtures/human-lj-a.flac')],
    ...['-t', String(lengthS), '-ar', '16000', '-ac', '1', '-c:a', 'pcm_s16le', file],
  ]);
  return readFileSync(file);
}

/** One kind of request to a server with cores of its own. */
export class MeasuredHost {
  readonly #server: ServerProcess;
  readonly #body: string;

  constructor(server: ServerProcess, clip: Uint8Array, model: string) {
    this.#server = server;
    this.#body = formBody(clip, { fields: { model } }).toString('base64');
  }

  #run(order: Partial<PhaseOrder> & { readonly durationS: number }, perS = 0): Promise<PhaseResult> {
    const { port, pid, apiKey } = this.#server;
    const target = { port, pid, boundary: formType.split('boundary=')[1] ?? '', body: this.#body };
    const keys = [{ apiKey, name: 'load', perS }];
    return runPhase(target, { keys, slowClients: 0, abortsPerS: 0, ...order });
  }

  /** Answers per second to 16 connections without pauses. */
  async maximumPerS(durationS: number): Promise<number> {
    return goodputPerS(await this.#run({ durationS, closedConnections: CONNECTIONS }));
  }

  /** Times of requests that have the host to themselves, in ms. */
  async aloneMs(durationS: number): Promise<readonly number[]> {
    const { keys } = await this.#run({ durationS, closedConnections: 1 });
    return keys[0]?.acceptedMs ?? [];
  }

  /** Requests at random moments. */
  async latencies(perS: number, durationS: number) {
    const { keys, othersCpuS } = await this.#run({ durationS, isRandom: true }, perS);
    const [{ acceptedMs = [], sent = 0 } = {}] = keys;
    return { acceptedMs, refused: sent - acceptedMs.length, othersCores: othersCpuS / durationS };
  }
}
