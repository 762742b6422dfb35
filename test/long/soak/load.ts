// SPDX-License-Identifier: Apache-2.0
import { formBody, formType } from '../../../bench/support/form-body.js';
import type { Answer, Client } from './client.js';
import type { Recordings } from './recordings.js';

/** Outcome of a request of the load: a status, or its end without one. */
export interface Result {
  readonly outcome: string;
  /** Of the answer that counts. */
  readonly tookMs?: number;
  /** Reason why the outcome is wrong; undefined if it is right. */
  readonly problem?: string;
  /** A full server says so, as documented. That is neither a fault nor a success. */
  readonly refusal?: string;
}

type Task = (number: number) => Promise<Result>;

const keys = 20;
const entity = 'analysis';

/** Requests of the load, by name, with their share per thousand. */
export async function makeLoad(
  client: Client,
  recordings: Recordings,
): Promise<readonly { readonly name: string; readonly perThousand: number; readonly run: Task }[]> {
  const nth = <T>(values: readonly T[], number: number): T => values[number % values.length] as T;
  // Every second one with the second detector.
  const models = ['apollo-4-5-2026-03-26', 'apollo-4-2026-01-16'];
  const shortForms = recordings.short.map((file, i) =>
    formBody(file, { fields: { model: models[i % models.length] as string } }),
  );
  const voiceForm = formBody(recordings.voice);
  const sampleForm = formBody(recordings.voice, { fileField: 'audio_file' });
  const largeForm = formBody(recordings.large);
  const badForms = recordings.bad.map((file) => formBody(file));

  const post = (target: string, body: Buffer, type = formType) =>
    client.call({ method: 'POST', target, body, headers: { 'content-type': type } });
  const postJson = (target: string, body: object) =>
    post(target, Buffer.from(JSON.stringify(body)), 'application/json');
  function expecting(answer: Answer, ...statuses: number[]): Result {
    const { status, body, tookMs, retryAfter } = answer;
    const result = { outcome: String(status), tookMs };
    if (statuses.includes(status)) return result;
    if ((status === 429 || status === 503) && retryAfter !== undefined)
      return { ...result, refusal: `${status} ${JSON.parse(body.toString()).message}` };
    return { ...result, problem: body.subarray(0, 300).toString() };
  }
  const headOf = (length: number) =>
    `POST /v1/predict HTTP/1.1\r\nHost: a\r\nx-api-key: ${client.apiKey}\r\nContent-Type: ${formType}\r\nContent-Length: ${length}\r\n\r\n`;

  const enrolled = await post('/v1/voiceid/enroll', sampleForm);
  if (enrolled.status !== 200) throw new Error(`Enrolment: ${enrolled.body}`);
  const voice_vector = JSON.stringify(JSON.parse(enrolled.body.toString()).embedding);
  const verifyForm = formBody(recordings.voice, { fileField: 'audio_file', fields: { voice_vector } });
  const scores = new Map<number, number>();

  async function uploaded(number: number): Promise<Answer> {
    const links = await postJson('/v1/file', { keys: [`soak-${number % keys}`], entity });
    if (links.status !== 200) return links;
    const target = new URL(JSON.parse(links.body.toString()).url[0].value);
    return client.call({ method: 'PUT', target, body: nth(recordings.short, number) });
  }

  async function downloadLink(number: number): Promise<Answer | URL> {
    const links = await client.call({ target: `/v1/file?key_prefix=soak-${number % keys}&entity=${entity}` });
    const [link] = links.status === 200 ? JSON.parse(links.body.toString()).url : [];
    return link === undefined ? links : new URL(link.value);
  }

  // Ensures that there is something to fetch from the start.
  for (let i = 0; i < keys; i++) await uploaded(i);

  return [
    {
      name: 'predict',
      perThousand: 610,
      async run(number) {
        const which = number % shortForms.length;
        const answer = await post('/v1/predict', shortForms[which] as Buffer);
        if (answer.status !== 200) return expecting(answer, 200);
        const { score } = JSON.parse(answer.body.toString()).global;
        const known = scores.get(which) ?? score;
        scores.set(which, known);
        const problem = score === known ? {} : { problem: `score ${score} instead of ${known}` };
        return { ...expecting(answer, 200), ...problem };
      },
    },
    {
      name: 'v0 predict',
      perThousand: 60,
      run: async () => expecting(await post('/v0/predict', voiceForm), 200),
    },
    {
      name: 'enroll',
      perThousand: 20,
      run: async () => expecting(await post('/v1/voiceid/enroll', sampleForm), 200),
    },
    {
      name: 'verify',
      perThousand: 30,
      run: async () => expecting(await post('/v1/voiceid/verify', verifyForm), 200),
    },
    {
      name: 'large file',
      perThousand: 3,
      run: async () => expecting(await post('/v1/predict/large-file', largeForm), 200),
    },
    {
      name: 'upload by link',
      perThousand: 40,
      run: async (number) => expecting(await uploaded(number), 200),
    },
    {
      name: 'download by link',
      perThousand: 40,
      async run(number) {
        const link = await downloadLink(number);
        return expecting(link instanceof URL ? await client.call({ target: link }) : link, 200);
      },
    },
    {
      name: 'predict by link',
      perThousand: 60,
      async run(number) {
        const link = await downloadLink(number);
        if (!(link instanceof URL)) return expecting(link, 200);
        return expecting(await postJson('/v1/predict', { presigned_url: link.href }), 200);
      },
    },
    {
      name: 'bad input',
      perThousand: 60,
      run: async (number) => expecting(await post('/v1/predict', nth(badForms, number)), 200, 400, 422),
    },
    {
      name: 'strangers and lost ways',
      perThousand: 30,
      async run(number) {
        const target = nth(['/v1/nothing', '/v1/predict', '/openapi.json', '/readyz', '/docs'], number);
        const headers = { 'x-api-key': 'vx_000000000000_0' };
        return expecting(await client.call({ target, headers }), 200, 404, 405);
      },
    },
    {
      name: 'broken off',
      perThousand: 40,
      async run(number) {
        const form = nth(shortForms, number);
        await client.breakOff(headOf(form.length), form, (number * 7919) % form.length);
        return { outcome: 'broken off' };
      },
    },
    {
      name: 'slow client',
      perThousand: 7,
      async run(number) {
        const form = nth(shortForms, number);
        const status = await client.sendSlowly(headOf(form.length), form, 10, 600);
        const outcome = String(status);
        if (status === 429 || status === 503) return { outcome, refusal: `${status} to a slow client` };
        return { outcome, ...(status !== 200 && { problem: `status ${status}` }) };
      },
    },
  ];
}
