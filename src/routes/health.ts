// SPDX-License-Identifier: Apache-2.0
import type { PipelineStatus } from '../pipeline/analysis.js';
import { jsonReply, type Route } from './route.js';

/** The process answers. Says nothing about models: an orchestrator must not restart a server that is loading them. */
export const livezRoute: Route = {
  method: 'GET',
  path: '/livez',
  handle: () => jsonReply(200, { alive: true }),
};

/** 200 while requests should be sent here: after the warm-up, and until the server was told to stop. */
export function readyzRoute(status: () => PipelineStatus, isStopping: () => boolean): Route {
  return {
    method: 'GET',
    path: '/readyz',
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
