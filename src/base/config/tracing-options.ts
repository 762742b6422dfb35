// SPDX-License-Identifier: Apache-2.0
import { optional, text } from './option.js';
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

/** Traces for a collector (docs/tracing.md). */
export const tracingOptions = {
  otlpEndpoint: optional({
    variable: 'VERAVOX_OTLP_ENDPOINT',
    accepts: 'an http or https URL without user, query and fragment',
    defaultText: 'none: no traces',
    parseValue: parseCollector,
    description:
      'OpenTelemetry collector for traces, by OTLP over HTTP; `/v1/traces` is added to its path. The standard variables `OTEL_...` switch nothing on. See [tracing.md](tracing.md).',
  }),
  otlpHeaders: {
    ...optional({
      variable: 'VERAVOX_OTLP_HEADERS',
      accepts: '`name=value` pairs, values percent-encoded, separated by commas',
      defaultText: 'none',
      parseValue: parseOtlpHeaders,
      description: 'Headers for the collector, such as its key. Never logged.',
    }),
    isSecret: true,
  },
  traceRatio: {
    ...optional({
      variable: 'VERAVOX_TRACE_RATIO',
      accepts: 'a number from 0 to 1',
      defaultText: '1',
      parseValue: parseRatio,
      description:
        'Share of the traces beginning at this server that the collector gets. For a request with a `traceparent`, its sender has decided.',
    }),
    default: () => 1,
  },
  traceService: text({
    variable: 'VERAVOX_TRACE_SERVICE',
    accepts: 'a name',
    default: 'veravox',
    description: 'Name of this service in traces (`service.name`).',
  }),
};
