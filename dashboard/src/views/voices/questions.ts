// SPDX-License-Identifier: Apache-2.0
//
// The two questions about a sample: whose voice it is, and whether it is a human's at all.
import { type Identification, type Prediction, VeravoxError, type Verification } from 'veravox-client';
import type { Voiceprint } from '../../logic/voiceprints.js';
import type { Session } from '../../session.js';

export type Comparison =
  | {
      readonly kind: 'verified';
      readonly answer: Verification;
      readonly name: string;
      readonly cosine: number | undefined;
    }
  | {
      readonly kind: 'identified';
      readonly answer: Identification;
      /** Of the voiceprints, by their ids. */
      readonly names: ReadonlyMap<string, string>;
    };

/** @throws VeravoxError, TypeError */
export async function identified(
  session: Session,
  sample: File,
  voiceprints: readonly Voiceprint[],
): Promise<Comparison> {
  const answer = await session.call((client) => client.identify(sample, voiceprints, { top: 10 }));
  return { kind: 'identified', answer, names: new Map(voiceprints.map(({ id, name }) => [id, name])) };
}

/** @throws VeravoxError, TypeError */
export async function verified(session: Session, sample: File, voiceprint: Voiceprint): Promise<Comparison> {
  let cosine: number | undefined;
  const onHeaders = (headers: Headers): void => {
    const value = headers.get('x-voice-cosine');
    if (value !== null) cosine = Number(value);
  };
  const answer = await session.call((client) => client.verify(sample, voiceprint.embedding, { onHeaders }));
  return { kind: 'verified', answer, name: voiceprint.name, cosine };
}

export type Authenticity =
  | { readonly is: 'judged'; readonly prediction: Prediction; readonly modelId: string }
  /** Without it, a match must not look like an answer to both questions. */
  | { readonly is: 'unknown'; readonly why: string };

/** Whether the sample sounds human: a clone is meant to match. Never throws if the server refuses. */
export async function authenticityOf(session: Session, sample: File): Promise<Authenticity> {
  let modelId: string | undefined;
  const onHeaders = (headers: Headers): void => {
    modelId = headers.get('x-model-ids') ?? undefined;
  };
  try {
    const prediction = await session.call((client) =>
      client.predict(sample, { detail: 'stretches', onHeaders }),
    );
    return { is: 'judged', prediction, modelId: modelId ?? prediction.model };
  } catch (error) {
    if (error instanceof VeravoxError) return { is: 'unknown', why: error.message };
    throw error;
  }
}
