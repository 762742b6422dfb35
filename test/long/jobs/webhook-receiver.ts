// SPDX-License-Identifier: Apache-2.0
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verifyWebhook } from '../../../client/src/index.js';

/** One in this many webhooks is refused at its first attempt. */
const REFUSED_EVERY = 20;

interface Received {
  /** Ids of a job's webhooks, the same in all attempts. */
  readonly ids: Set<string>;
  readonly states: Set<string>;
  accepted: number;
}

/** A client's server: keeps what it receives, and refuses some at first. */
export class WebhookReceiver {
  readonly #server: http.Server;
  readonly #byJob = new Map<string, Received>();
  readonly #problems: string[] = [];
  #refused = 0;
  /** Of the jobs' account. */
  secret = '';

  private constructor() {
    this.#server = http.createServer((request, response) => {
      void this.#receive(request).then(
        (status) => response.writeHead(status).end(),
        (error) => {
          this.#problems.push(String(error));
          response.writeHead(400).end();
        },
      );
    });
  }

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  /** The address as hosts know it. */
  get origin(): string {
    return `http://hooks.example.com:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Number of jobs with accepted webhooks. */
  get jobs(): number {
    return [...this.#byJob.values()].filter(({ accepted }) => accepted > 0).length;
  }

  /** Webhooks that came again after acceptance. */
  get repeated(): number {
    return [...this.#byJob.values()].reduce((sum, { accepted }) => sum + Math.max(0, accepted - 1), 0);
  }

  get refused(): number {
    return this.#refused;
  }

  /** Faults of these jobs' webhooks; all jobs have succeeded. */
  problemsOf(ids: readonly string[]): string[] {
    const problems = [...this.#problems];
    for (const id of ids) {
      const received = this.#byJob.get(id);
      if (received === undefined || received.accepted === 0) problems.push(`no webhook for job ${id}`);
      else if (received.ids.size !== 1) problems.push(`${received.ids.size} webhooks for job ${id}`);
      else if ([...received.states].join() !== 'succeeded')
        problems.push(`job ${id}: ${[...received.states]}`);
    }
    return problems;
  }

  async #receive(request: http.IncomingMessage): Promise<number> {
    const body = await text(request);
    const { data } = await verifyWebhook({ body, headers: request.headers }, this.secret);
    const received = this.#byJob.get(data.id) ?? { ids: new Set(), states: new Set(), accepted: 0 };
    const isFirst = received.ids.size === 0;
    this.#byJob.set(data.id, received);
    received.ids.add(String(request.headers['webhook-id']));
    received.states.add(data.state);
    if (isFirst && this.#byJob.size % REFUSED_EVERY === 0) {
      this.#refused++;
      return 503;
    }
    received.accepted++;
    return 204;
  }
}
