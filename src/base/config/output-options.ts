// SPDX-License-Identifier: Apache-2.0
import { choice, text } from './option.js';

/** What the server tells on standard output. */
export const outputOptions = {
  firstKeyFile: text({
    variable: 'VERAVOX_FIRST_KEY_FILE',
    accepts: 'a file',
    default: '',
    defaultText: 'none: the key is printed',
    description:
      "File for the API key of the first start, readable by the server's user only. Set it if standard output is kept, as in a container: every reader of that log would have the key.",
  }),
  logFormat: choice({
    variable: 'VERAVOX_LOG_FORMAT',
    choices: ['auto', 'json', 'text'],
    default: 'auto',
    description: 'Form of the log: JSON lines, or short lines for people; `auto` is text on a terminal.',
  }),
  logLevel: choice({
    variable: 'VERAVOX_LOG_LEVEL',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
    description:
      'Least severe log lines to write; `debug` adds requests for `/livez`, `/readyz` and `/metrics`.',
  }),
};
