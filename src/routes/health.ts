// SPDX-License-Identifier: Apache-2.0

import type { Schema } from '../openapi/operation.js';
import type { PipelineStatus } from '../pipeline/analysis.js';
import { jsonReply, type Route } from './route.js';

const liveness: Schema = {
  title: 'Liveness',
  type: 'object',
  properties: { alive: { type: 'boolean', const: true } },
  required: ['alive'],
  additionalProperties: false,
  examples: [{ alive: true }],
};

const readiness: Schema = {
  title: 'Readiness',
  type: 'object',
  properties: {
    ready: { type: 'boolean' },
    state: { type: 'string', enum: ['starting', 'ready', 'stopping'] },
    provider: { type: 'string', description: 'What runs the models.', enum: ['cpu', 'cuda'] },
    fallback_reason: {
      type: ['string', 'null'],
      description: 'Why the CPU runs the models where CUDA was wanted.',
    },
    models: { type: 'array', description: 'The detectors that can be asked for.', items: { type: 'string' } },
    speaker_models: { type: 'array', description: 'Those of voice identity.', items: { type: 'string' } },
  },
  required: ['ready', 'state', 'provider', 'fallback_reason', 'models', 'speaker_models'],
  additionalProperties: false,
  examples: [
    {
      ready: true,
      state: 'ready',
      provider: 'cpu',
      fallback_reason: null,
      models: ['apollo-4-5-2026-03-26'],
      speaker_models: ['voiceprint-1-2026-11-21'],
    },
  ],
};

/** The process answers. Says nothing about models: an orchestrator must not restart a server that is loading them. */
export const livezRoute: Route = {
  method: 'GET',
  path: '/livez',
  operation: {
    id: 'livez',
    tag: 'Operation',
    summary: 'Does the process answer?',
    answers: { 200: { description: 'It does.', schema: liveness } },
    errors: [],
  },
  handle: () => jsonReply(200, { alive: true }),
};

/** 200 while requests should be sent here: after the warm-up, and until the server was told to stop. */
export function readyzRoute(status: () => PipelineStatus, isStopping: () => boolean): Route {
  return {
    method: 'GET',
    path: '/readyz',
    operation: {
      id: 'readyz',
      tag: 'Operation',
      summary: 'Should requests be sent here?',
      answers: {
        200: { description: 'The models are warm.', schema: readiness },
        503: { description: 'They are not yet, or the server is stopping.', schema: readiness },
      },
      errors: [],
    },
    handle() {
      const { ready, provider, fallbackReason, models, speakerModels } = status();
      const state = isStopping() ? 'stopping' : ready ? 'ready' : 'starting';
      const body = {
        ready: state === 'ready',
        state,
        provider,
        fallback_reason: fallbackReason ?? null,
        models,
        speaker_models: speakerModels.map((model) => model.id),
      };
      return jsonReply(state === 'ready' ? 200 : 503, body);
    },
  };
}
