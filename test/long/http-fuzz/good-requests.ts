// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { packageDir } from '../../../src/base/config/package-dir.js';
import { Connection } from './connection.js';
import { fieldPart, filePart, formBytes } from './framing.js';
import { head, type Surroundings } from './input.js';
import { formType } from './media-inputs.js';

const boundary = formType.slice(formType.indexOf('=') + 1);
const clipS = 2.5;

/** The same sound recording over and over; its score must never change, nor its answer go astray. */
export class GoodRequests {
  readonly #port: number;
  readonly #surroundings: Surroundings;
  readonly #boundMs: number;
  readonly #file: Buffer;
  #score: unknown;

  private constructor(port: number, surroundings: Surroundings, boundMs: number) {
    this.#port = port;
    this.#surroundings = surroundings;
    this.#boundMs = boundMs;
    const clip = join(packageDir, 'test/fixtures/human-lj-b.flac');
    const asWav = ['-t', String(clipS), '-ar', '16000', '-ac', '1', '-f', 'wav', '-'];
    this.#file = execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-i', clip, ...asWav]);
  }

  /** Asks a few times first, which also warms up the server. */
  static async begin(port: number, surroundings: Surroundings, boundMs: number): Promise<GoodRequests> {
    const good = new GoodRequests(port, surroundings, boundMs);
    for (let i = 0; i < 20; i++) {
      const problem = await good.ask(-1 - i, undefined);
      if (problem !== undefined)
        throw new Error(`A good request failed before the first bad one: ${problem}`);
    }
    return good;
  }

  /**
   * Faults of the answer, if any.
   * @param kept the connection of a bad input, if the server has kept it open
   */
  async ask(number: number, kept: Connection | undefined): Promise<string | undefined> {
    const id = `good.${number}`;
    const body = formBytes(boundary, [fieldPart('prediction_id', id), filePart('file', this.#file)]);
    const { host, apiKey } = this.#surroundings;
    const headers = [
      ['host', host],
      ['x-api-key', apiKey],
      ['content-type', formType],
      ['content-length', String(body.length)],
    ] as const;
    const request = {
      bytes: Buffer.concat([Buffer.from(head('POST', '/v1/predict', headers)), body]),
      wantsOne: true,
      timeoutMs: this.#boundMs,
    };
    const connection = kept?.isOpen ? kept : await Connection.open(this.#port);
    let { answers, end } = await connection.exchange(request);
    // The server may close a connection between two requests.
    if (end === 'closed' && connection === kept) {
      const fresh = await Connection.open(this.#port);
      ({ answers, end } = await fresh.exchange(request));
      fresh.close();
    }
    if (connection !== kept) connection.close();
    const [answer] = answers;
    if (answer === undefined) return end;
    const text = answer.body.toString();
    if (answer.status !== 200) return `${answer.status} ${text}`;
    const { prediction_id, global } = JSON.parse(text);
    if (prediction_id !== id) return `the answer of another request: ${text}`;
    this.#score ??= global.score;
    return global.score === this.#score ? undefined : `score ${global.score} instead of ${this.#score}`;
  }
}
