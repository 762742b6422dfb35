// SPDX-License-Identifier: Apache-2.0

import type { Schema } from '../contract/operation.js';
import type { CheckedStatus } from '../known-answers/checked-models.js';
import { jsonReply, type Route } from './route.js';

const liveness: Schema = {
  title: 'Liveness',
  type: 'object',
  properties: { alive: { type: 'boolean', const: true } },
  required: ['alive'],
  additionalProperties: false,
  examples: [{ alive: true }],
};

const numbers: Schema = { type: 'array', items: { type: 'number' } };

const wrongAnswer: Schema = {
  type: 'object',
  properties: {
    model: { type: 'string' },
    file: { type: 'string', description: 'The clip.' },
    expected: {
      ...numbers,
      description: 'The scores of its windows, or the first numbers of its embedding.',
    },
    measured: { ...numbers, description: 'Empty where the model could not answer.' },
    tolerance: { type: 'number' },
    error: { type: ['string', 'null'], description: 'Why the model could not answer.' },
  },
  required: ['model', 'file', 'expected', 'measured', 'tolerance', 'error'],
  additionalProperties: false,
};

const readiness: Schema = {
  title: 'Readiness',
  type: 'object',
  description:
    'All but `ready` and `state` is for operators: at the admin address, or with a key with the scope `admin`.',
  properties: {
    ready: { type: 'boolean' },
    state: { type: 'string', enum: ['starting', 'ready', 'wrong_answers', 'stopping'] },
    provider: { type: 'string', description: 'What runs the models.', enum: ['cpu', 'cuda'] },
    fallback_reason: {
      type: ['string', 'null'],
      description: 'Why the CPU runs the models where CUDA was wanted.',
    },
    models: { type: 'array', description: 'The detectors that can be asked for.', items: { type: 'string' } },
    speaker_models: { type: 'array', description: 'Those of voice identity.', items: { type: 'string' } },
    wrong_answers: {
      type: 'array',
      description:
        'What models say of clips that is too far from what they are known to say; 503 unless empty.',
      items: wrongAnswer,
    },
  },
  required: ['ready', 'state'],
  additionalProperties: false,
  examples: [
    { ready: true, state: 'ready' },
    {
      ready: true,
      state: 'ready',
      provider: 'cpu',
      fallback_reason: null,
      models: ['apollo-4-5-2026-03-26'],
      speaker_models: ['voiceprint-1-2026-11-21'],
      wrong_answers: [],
    },
  ],
};

/** The process answers. Says nothing about models: an orchestrator must not restart a server that is loading them. */
export const livezRoute: Route = {
  method: 'GET',
  path: '/livez',
  operation: {
    id: 'isAlive',
    tag: 'Operation',
    summary: 'Does the process answer?',
    description: 'For supervisors, which restart a process that hangs.',
    answers: { 200: { description: 'It does.', schema: liveness } },
    errors: [],
  },
  handle: () => jsonReply(200, { alive: true }),
};

/**
 * 200 while requests should be sent here: after the warm-up, unless known answers do not hold, and until the server was
 * told to stop.
 */
export function readyzRoute(status: () => CheckedStatus, isStopping: () => boolean): Route {
  return {
    method: 'GET',
    path: '/readyz',
    tellsOperators: true,
    operation: {
      id: 'isReady',
      tag: 'Operation',
      summary: 'Should requests be sent here?',
      description: 'For load balancers.',
      answers: {
        200: { description: 'The models are warm, and their known answers hold.', schema: readiness },
        503: {
          description: 'They are not yet, or give wrong answers, or the server is stopping.',
          schema: readiness,
        },
      },
      errors: [],
    },
    handle({ isOperator }) {
      const { ready, wrongAnswers, provider, fallbackReason, models, speakerModels } = status();
      const notReady = wrongAnswers.length > 0 ? 'wrong_answers' : 'starting';
      const state = isStopping() ? 'stopping' : ready ? 'ready' : notReady;
      const code = state === 'ready' ? 200 : 503;
      const known = { ready: state === 'ready', state };
      if (!isOperator) return jsonReply(code, known);
      return jsonReply(code, {
        ...known,
        provider,
        fallback_reason: fallbackReason ?? null,
        models,
        speaker_models: speakerModels.map((model) => model.id),
        wrong_answers: wrongAnswers.map(({ modelId, file, expected, measured, tolerance, error }) => ({
          model: modelId,
          file,
          expected,
          measured,
          tolerance,
          error: error ?? null,
        })),
      });
    },
  };
}
