// SPDX-License-Identifier: Apache-2.0
import { nearest } from './nearest.js';
import type { Option } from './option.js';
import { options } from './options.js';
import { FILE_SUFFIX } from './secret-files.js';

const PREFIX = 'VERAVOX_';

export interface UnknownVariable {
  readonly variable: string;
  /** The most likely intended name. */
  readonly suggestion?: string;
}

const variables = Object.values(options).flatMap(({ variable, isSecret }: Option<unknown>) =>
  isSecret ? [variable, `${variable}${FILE_SUFFIX}`] : [variable],
);

/** Each variable by the names that people may give it: `VERAVOX_PORT` means `PORT`. */
const bySpelling = new Map(
  variables.map((variable) => [variable.startsWith(PREFIX) ? variable : `${PREFIX}${variable}`, variable]),
);

/** Variables that look like settings, in any letter case, but are unknown. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): UnknownVariable[] {
  const known = new Set(variables);
  return Object.keys(env)
    .filter((variable) => variable.toUpperCase().startsWith(PREFIX) && !known.has(variable))
    .filter((variable) => !isOfKubernetes(variable, env[variable] ?? ''))
    .map((variable) => {
      const suggestion = bySpelling.get(nearest(variable.toUpperCase(), [...bySpelling.keys()]) ?? '');
      return { variable, ...(suggestion !== undefined && { suggestion }) };
    });
}

/** Kubernetes sets these in every container next to a service that is called veravox. */
const isOfKubernetes = (variable: string, value: string): boolean =>
  /^VERAVOX_(SERVICE_(HOST|PORT)|PORT_\d{1,5}_)/.test(variable) ||
  (variable === 'VERAVOX_PORT' && /^(tcp|udp|sctp):/.test(value));
