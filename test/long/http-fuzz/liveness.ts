// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.js';
import { head } from './input.js';

const everyMs = 250;
const boundMs = 10_000;

/** Polls whether the process answers: one that is busy with a single input does not. */
export function watchLiveness(port: number) {
  const probes = { sent: 0, failed: 0, slowestMs: 0 };
  let running = true;
  const bytes = Buffer.from(head('GET', '/livez', [['host', 'probe']]));
  const asking = (async () => {
    while (running) {
      probes.sent++;
      try {
        const connection = await Connection.open(port);
        const { answers, tookMs } = await connection.exchange({ bytes, wantsOne: true, timeoutMs: boundMs });
        if (answers[0]?.status !== 200) probes.failed++;
        probes.slowestMs = Math.max(probes.slowestMs, tookMs);
        connection.close();
      } catch {
        probes.failed++;
      }
      await delay(everyMs);
    }
  })();
  return {
    async stop() {
      running = false;
      await asking;
      return probes;
    },
  };
}
