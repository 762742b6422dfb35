// SPDX-License-Identifier: Apache-2.0
//
// Load on a server, in a closed loop (each connection sends one request after another) or an open one (requests are sent when
// due, whatever happened to earlier ones).
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';

const ANSWER_TIMEOUT_MS = 60_000;
const SOCKETS = 4096;
/** Of a connection in a closed loop after any answer but 200: refusals cost the server time that it lacks already. */
const PAUSE_MS = 100;

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** A form to post, over and over. */
export interface LoadTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface LoadFigures {
  /** Answers with 200 per second: in a closed loop of each connection until its last, in an open one the ones in time. */
  readonly requestsPerS: number;
  /** Times of the answers with 200: from the first byte sent, or in an open loop from the moment at which it was due. Rising. */
  readonly answeredMs: readonly number[];
  /** Answers with 429 or 503. */
  readonly refused: number;
  /** Other answers, and connections that failed. */
  readonly failed: number;
}

export class Load {
  readonly #target: LoadTarget;
  readonly #timeoutMs: number;
  readonly #client: typeof http | typeof https;
  readonly #agent: http.Agent;

  constructor(target: LoadTarget, { timeoutMs = ANSWER_TIMEOUT_MS } = {}) {
    this.#target = target;
    this.#timeoutMs = timeoutMs;
    this.#client = target.url.protocol === 'https:' ? https : http;
    this.#agent = new this.#client.Agent({ keepAlive: true, maxSockets: SOCKETS, maxFreeSockets: SOCKETS });
  }

  /** @throws if the connection fails, or the answer takes longer than the time limit */
  async send(): Promise<Answer> {
    const { url, headers, body } = this.#target;
    const signal = AbortSignal.timeout(this.#timeoutMs);
    const request = this.#client.request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.byteLength },
      agent: this.#agent,
      signal,
    });
    request.end(body);
    const [response] = (await once(request, 'response', { signal })) as [http.IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) };
  }

  async closedLoop(connections: number, durationMs: number): Promise<LoadFigures> {
    const beganMs = performance.now();
    const count = new Count(durationMs);
    const one = async (): Promise<number> => {
      let answered = 0;
      while (performance.now() < count.endMs) {
        const isAnswered = await this.#counted(count, performance.now());
        if (isAnswered) answered++;
        else await delay(PAUSE_MS);
      }
      return (1000 * answered) / (performance.now() - beganMs);
    };
    const rates = await Promise.all(Array.from({ length: connections }, one));
    return count.figures(rates.reduce((sum, rate) => sum + rate, 0));
  }

  /** Requests at random moments, as from many clients that know nothing of each other (a Poisson process). */
  async openLoop(requestsPerS: number, durationMs: number): Promise<LoadFigures> {
    const count = new Count(durationMs);
    const sent: Promise<boolean>[] = [];
    const gapMs = (): number => (-Math.log(1 - Math.random()) * 1000) / requestsPerS;
    for (let dueMs = performance.now() + gapMs(); dueMs < count.endMs; dueMs += gapMs()) {
      const waitMs = dueMs - performance.now();
      if (waitMs >= 1) await delay(waitMs);
      sent.push(this.#counted(count, dueMs));
    }
    await Promise.all(sent);
    return count.figures((1000 * count.inTime) / durationMs);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** @returns whether the answer was 200 */
  async #counted(count: Count, sinceMs: number): Promise<boolean> {
    const status = await this.send().then(
      (answer) => answer.status,
      () => 0,
    );
    count.add(status, sinceMs);
    return status === 200;
  }
}

class Count {
  readonly endMs: number;
  inTime = 0;
  readonly #answeredMs: number[] = [];
  #refused = 0;
  #failed = 0;

  constructor(durationMs: number) {
    this.endMs = performance.now() + durationMs;
  }

  add(status: number, sinceMs: number): void {
    const nowMs = performance.now();
    if (status === 429 || status === 503) this.#refused++;
    else if (status !== 200) this.#failed++;
    else {
      this.#answeredMs.push(nowMs - sinceMs);
      if (nowMs <= this.endMs) this.inTime++;
    }
  }

  figures(requestsPerS: number): LoadFigures {
    return {
      requestsPerS,
      answeredMs: this.#answeredMs.sort((a, b) => a - b),
      refused: this.#refused,
      failed: this.#failed,
    };
  }
}
