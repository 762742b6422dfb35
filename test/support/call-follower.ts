// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { Ajv } from 'ajv';
import { type CallEvent, callEvents } from '../../src/base/contract/call.js';
import { API_KEY } from './test-keys.js';
import { until } from './until.js';

const ajv = new Ajv({ allowUnionTypes: true });
const isCallEvent = ajv.compile({ anyOf: callEvents });

/** Follows a call by its server-sent events, each of which must be as the contract says. */
export class CallFollower {
  readonly events: CallEvent[] = [];
  readonly ids: string[] = [];
  isOver = false;

  /** @param id the provider's id of the stream or the call */
  static async open(origin: string, id: string, headers: Record<string, string> = {}): Promise<CallFollower> {
    const answer = await fetch(`${origin}/v1/stream/calls/${encodeURIComponent(id)}/events`, {
      headers: { 'x-api-key': API_KEY, ...headers },
    });
    assert.equal(answer.status, 200, await (answer.ok ? '' : answer.text()));
    assert.equal(answer.headers.get('content-type'), 'text/event-stream');
    const follower = new CallFollower();
    void follower.#read(answer);
    return follower;
  }

  /** The first event of this type, of this leg if one is given. */
  async next<Type extends CallEvent['type']>(
    type: Type,
    leg?: string,
  ): Promise<Extract<CallEvent, { type: Type }>> {
    const found = () =>
      this.events.find(
        (event) => event.type === type && (leg === undefined || ('leg' in event && event.leg === leg)),
      );
    await until(() => found() !== undefined || this.isOver);
    assert.ok(found(), `No ${type} of ${leg} but ${JSON.stringify(this.events)}.`);
    return found() as Extract<CallEvent, { type: Type }>;
  }

  async ended(): Promise<readonly CallEvent[]> {
    await until(() => this.isOver);
    return this.events;
  }

  async #read(answer: Response): Promise<void> {
    let text = '';
    try {
      for await (const bytes of answer.body ?? []) {
        text += Buffer.from(bytes).toString();
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) this.#take(block);
      }
    } finally {
      this.isOver = true;
    }
  }

  #take(block: string): void {
    const [, id, type, data] = /^id: (\S+)\nevent: (\w+)\ndata: (.*)$/.exec(block) ?? [];
    if (data === undefined) return;
    const event = JSON.parse(data) as CallEvent;
    assert.ok(isCallEvent(event), `${ajv.errorsText(isCallEvent.errors)}: ${data}`);
    assert.equal(event.type, type);
    this.ids.push(String(id));
    this.events.push(event);
  }
}
