// SPDX-License-Identifier: Apache-2.0
import type { TestContext } from 'node:test';
import type { Analysis } from '../../src/analysis/analyser/analyser.js';
import type { Config } from '../../src/base/config/options.js';
import { ServiceError } from '../../src/base/errors/service-error.js';
import { migrate } from '../../src/state/database/migrate.js';
import { migrations } from '../../src/state/database/migrations/migrations.js';
import { SqliteDatabase } from '../../src/state/database/sqlite-database.js';
import { OperatingPointTable } from '../../src/state/operating-points/operating-point-table.js';
import { ProfileTable } from '../../src/state/operating-points/profile-table.js';
import type { AuditEvent } from '../../src/state/records/audit-chain.js';
import { someAnalysis, someDetector } from './analyser-double.js';
import { type FormEntry, fileEntry, formBody } from './form-body.js';
import { type Answer, postForm, request } from './http-client.js';
import { shippedModelsDir } from './speaker-models.js';
import { temporaryFolder } from './temporary-folder.js';
import { API_KEY, startTestServer, type TestServer } from './test-server.js';

/** Their AI-generated speech is that of the shipped ones, their windows are doubles. */
export const detectors = ['detector-small-2026-11-25', 'detector-medium-2026-11-25'].map((id) => ({
  ...someDetector,
  id,
  aliases: [],
}));
const numbersOf = (model: string): number => (model.includes('small') ? 992 : 1024);

let takes = 0;
/** Another recording of the same kind each time. */
const taken = (content: string): string => (content === '' ? '' : `${content}#${takes++}`);
export const genuine = (count: number, content = 'flagged'): FormEntry[] =>
  Array.from({ length: count }, () => fileEntry(taken(content)));
export const generated = (count: number, content: string): FormEntry[] =>
  Array.from({ length: count }, () => ({ name: 'generated', content: taken(content), filename: 'b.wav' }));

export interface ProfileServer extends TestServer {
  readonly table: ProfileTable;
  readonly acts: readonly AuditEvent[];
  make(name: string, files: readonly FormEntry[], apiKey?: string, model?: string): Promise<Answer>;
  call(method: string, path: string, body?: object, apiKey?: string): Promise<Answer>;
  /** The score that a request with this profile gets for a flagged window of the channel. */
  scoreWith(profile: string, apiKey?: string): Promise<number | undefined>;
}

/**
 * A server with profiles in SQLite. Recordings are texts: `flagged` and `fine` sound like the channel, `elsewhere` does not,
 * `unlike` has nothing in common with anything, and another text is the key of the error that its analysis ends with. The number
 * after `#` makes recordings differ a little.
 */
export async function startProfileServer(
  t: TestContext,
  overrides: Partial<Config> = {},
  models = detectors.map(({ id }) => id),
): Promise<ProfileServer> {
  const database = new SqliteDatabase(`${temporaryFolder(t)}/profiles.db`, { pollMs: 20 });
  await migrate(database, migrations);
  const table = new ProfileTable(database);
  const points = new OperatingPointTable(database);
  const acts: AuditEvent[] = [];
  const profiles = {
    table,
    refresh: async () => server.server.replaceOperatingPoints(await points.all()),
    note: (event: AuditEvent) => void acts.push(event),
  };
  const server = await startTestServer(
    t,
    { modelsDir: shippedModelsDir, ...overrides },
    { models, profiles },
  );
  t.after(async () => {
    await server.server.stop();
    await database.close();
  });
  server.analyser.answer = ({ region: { offset, length }, adjustScore, model }): Analysis => {
    const content = Buffer.from(server.arena.bytes.subarray(offset, offset + length)).toString();
    const [text = '', take] = content.split('#');
    const sound = sounds[text.length > 100 ? 'fine' : text];
    if (sound === undefined) throw new ServiceError(text as 'NO_SPEECH');
    const [score, axis] = sound;
    const ownPlace = 100 + (Number(take ?? 0) % 800);
    const place = axis ?? ownPlace;
    const vector = new Float32Array(numbersOf(model));
    if (take !== undefined) vector[ownPlace] = 1;
    vector[place] = 100;
    const scores = [adjustScore ? adjustScore(score, vector) : score];
    return { ...someAnalysis, modelId: model, windows: [{ startS: 0, endS: 5, scores }] };
  };
  const call: ProfileServer['call'] = (method, at, body, apiKey = API_KEY) =>
    request(server.port, at, {
      method,
      headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: Buffer.from(JSON.stringify(body)) }),
    });
  const named = (profile: string, model: string | undefined): FormEntry[] => [
    { name: 'name', content: profile },
    ...(model === undefined ? [] : [{ name: 'model', content: model }]),
  ];
  return {
    ...server,
    table,
    acts,
    call,
    make: (name, files, apiKey = API_KEY, model) =>
      postForm(server.port, '/v1/profiles', formBody([...named(name, model), ...files]), {
        headers: { 'x-api-key': apiKey },
      }),
    async scoreWith(profile, apiKey = API_KEY) {
      const fields = [{ name: 'profile', content: profile }, fileEntry('flagged')];
      const { json } = await postForm(server.port, '/v1/predict', formBody(fields), {
        headers: { 'x-api-key': apiKey },
      });
      return json.global?.score;
    },
  };
}

/** Score, and the axis on which the vector lies; another one each time if there is none. */
const sounds: Readonly<Record<string, readonly [score: number, axis?: number]>> = {
  flagged: [0.8, 0],
  'strongly flagged': [0.95, 0],
  fine: [0.2, 0],
  elsewhere: [0.8, 1],
  unlike: [0.999999],
};
