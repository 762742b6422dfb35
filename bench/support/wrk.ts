// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { formBody, formType } from './form-body.js';

export interface LoadResult {
  readonly requestsPerS: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

// The script prints one JSON line at the end; wrk's own table is for people.
function luaScript(bodyPath: string, apiKey: string): string {
  return `
local file = assert(io.open(${JSON.stringify(bodyPath)}, "rb"))
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["content-type"] = "${formType}"
wrk.headers["x-api-key"] = "${apiKey}"
done = function(summary, latency, requests)
  local errors = summary.errors
  print(string.format('{"requestsPerS":%f,"failed":%d,"p50Ms":%f,"p95Ms":%f,"p99Ms":%f}',
    summary.requests / summary.duration * 1e6,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(95) / 1e3, latency:percentile(99) / 1e3))
end
`;
}

/** Posts a file over and over on keep-alive connections to a local server, with wrk. */
export async function load(options: {
  readonly port: number;
  readonly apiKey: string;
  readonly file: Uint8Array;
  readonly connections: number;
  readonly durationS: number;
}): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), 'veravox-bench-'));
  try {
    const body = join(folder, 'body');
    const script = join(folder, 'post.lua');
    await writeFile(body, formBody(options.file));
    await writeFile(script, luaScript(body, options.apiKey));
    const { stdout } = await promisify(execFile)('wrk', [
      ...['-t', '1', '-c', String(options.connections), '-d', `${options.durationS}s`, '--timeout', '30s'],
      ...['-s', script, `http://127.0.0.1:${options.port}/v1/predict`],
    ]);
    const line = stdout.split('\n').find((text) => text.startsWith('{'));
    if (line === undefined) throw new Error(`wrk printed no result:\n${stdout}`);
    return JSON.parse(line) as LoadResult;
  } finally {
    await rm(folder, { recursive: true });
  }
}
