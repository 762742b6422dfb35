// SPDX-License-Identifier: Apache-2.0
import type { Endpoint } from './endpoint.js';
import { liveness, readiness } from './health.js';

export const livezEndpoint: Endpoint = {
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
};

export const readyzEndpoint: Endpoint = {
  method: 'GET',
  path: '/readyz',
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
};
