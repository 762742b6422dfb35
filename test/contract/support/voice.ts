// SPDX-License-Identifier: Apache-2.0
import { aiGenerated, human, spokenText } from './audio.js';
import { type Answer, type FormFields, postForm, type Sending } from './client.js';
import { expectEnrollment, expectPrediction } from './judge.js';
import { wav } from './wav.js';

type Options = Omit<Sending, 'method' | 'body'>;

export const enroll = (audio: Uint8Array, fields: FormFields = {}, options?: Options): Promise<Answer> =>
  postForm('/v1/voiceid/enroll', { audio_file: audio, ...fields }, options);

export const verify = (
  audio: Uint8Array,
  vector: string,
  fields: FormFields = {},
  options?: Options,
): Promise<Answer> =>
  postForm('/v1/voiceid/verify', { audio_file: audio, voice_vector: vector, ...fields }, options);

let spoofed: Promise<Buffer> | undefined;

/**
 * The 10 s AI-generated sample that the server itself is surest of: the quality of its model does not matter here, and
 * voice identity may refuse only from a higher score on than predictions.
 */
export function spoofedSample(): Promise<Buffer> {
  spoofed ??= findSpoofed([wav(aiGenerated(10)), wav(spokenText(10))]);
  return spoofed;
}

async function findSpoofed(candidates: readonly Buffer[]): Promise<Buffer> {
  const verdicts = await Promise.all(
    candidates.map(async (file) => {
      const { global } = expectPrediction(await postForm('/v1/predict', { file }));
      return { file, ...global };
    }),
  );
  const surest = verdicts
    .filter(({ result }) => result === 'spoofed')
    .toSorted((one, other) => other.score - one.score)[0];
  if (surest !== undefined) return surest.file;
  throw new Error('The server calls no AI-generated fixture spoofed, so that it cannot refuse one.');
}

let enrolled: Promise<readonly number[]> | undefined;

/** The embedding of the voice of `human`. */
export function enrolledEmbedding(): Promise<readonly number[]> {
  enrolled ??= enroll(wav(human(14))).then((answer) => expectEnrollment(answer).embedding);
  return enrolled;
}

/** The other encoding: base64 of little-endian float32. */
export const asBase64 = (embedding: readonly number[]): string => {
  const bytes = Buffer.alloc(embedding.length * 4);
  embedding.forEach((number, i) => {
    bytes.writeFloatLE(number, i * 4);
  });
  return bytes.toString('base64');
};
