// SPDX-License-Identifier: Apache-2.0
import type { Endpoint } from './endpoint.js';
import { liveness, readiness } from './health.js';

export const livezEndpoint: Endpoint = {
  method: 'GET',
  path: '/livez',
  operation: {
    id: 'isAlive',
    tag: 'Operation',
    summary: 'Is the process alive?',
    description: 'For supervisors that restart a hanging process.',
    answers: { 200: { description: 'The process is alive.', schema: liveness } },
    errors: [],
  },
};

export const readyzEndpoint: Endpoint = {
  method: 'GET',
  path: '/readyz',
  operation: {
    id: 'isReady',
    tag: 'Operation',
    summary: 'Is the server ready for requests?',
    description: 'For load balancers.',
    answers: {
      200: { description: 'The models are loaded and reproduce their known answers.', schema: readiness },
      503: {
        description:
          'The models are not ready or give wrong answers, the bucket for files cannot be used, or the server is stopping.',
        schema: readiness,
      },
    },
    errors: [],
  },
};

export const healthEndpoints: readonly Endpoint[] = [livezEndpoint, readyzEndpoint];
