// SPDX-License-Identifier: Apache-2.0
import { choice, optional, text } from './option.js';
import { parseOtlpHeaders } from './otlp-headers.js';

const TRACES_PATH = '/v1/traces';

/** The address that spans are posted to; undefined if it cannot be a collector's. */
function parseCollector(given: string): string | undefined {
  if (!/^https?:\/\/[\x21-\x7e]+$/i.test(given) || !URL.canParse(given)) return undefined;
  const url = new URL(given);
  // A user would be in every error message, and a fragment is never sent.
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined;
  const path = url.pathname.replace(/\/$/, '');
  return `${url.origin}${path.endsWith(TRACES_PATH) ? path : `${path}${TRACES_PATH}`}`;
}

function parseRatio(given: string): number | undefined {
  const value = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(given) ? Number(given) : Number.NaN;
  return value >= 0 && value <= 1 ? value : undefined;
}

/**
 * Traces for a collector (docs/tracing.md), by the names and defaults of OpenTelemetry's specification. Other programs read
 * these variables also, so none of them needs another one.
 */
export const tracingOptions = {
  otlpEndpoint: optional({
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    accepts: 'an http or https URL without user, query and fragment',
    defaultText: 'none: no traces',
    parseValue: parseCollector,
    description:
      'OpenTelemetry collector for traces, by OTLP over HTTP; `/v1/traces` is added to its path. No other `OTEL_...` variable turns anything on. See [tracing.md](tracing.md).',
  }),
  otlpHeaders: {
    ...optional({
      variable: 'OTEL_EXPORTER_OTLP_HEADERS',
      accepts: '`name=value` pairs, values percent-encoded, separated by commas',
      defaultText: 'none',
      parseValue: parseOtlpHeaders,
      description: 'Headers for the collector, such as its key. Never logged.',
    }),
    isSecret: true,
  },
  serviceName: text({
    variable: 'OTEL_SERVICE_NAME',
    accepts: 'a name',
    default: 'veravox',
    description: 'Name of this service in traces (`service.name`).',
  }),
  traceSampler: choice({
    variable: 'OTEL_TRACES_SAMPLER',
    choices: [
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
      'always_on',
      'always_off',
      'traceidratio',
    ],
    default: 'parentbased_always_on',
    description:
      'Traces that the collector gets: all, none, or a share of them. With `parentbased_`, this holds for traces that begin at this server; for a request with a `traceparent`, its sender decides.',
  }),
  traceSamplerRatio: {
    ...optional({
      variable: 'OTEL_TRACES_SAMPLER_ARG',
      accepts: 'a number from 0 to 1',
      defaultText: '1',
      parseValue: parseRatio,
      description: 'Share of the traces for the samplers that end in `traceidratio`.',
    }),
    default: () => 1,
  },
};
