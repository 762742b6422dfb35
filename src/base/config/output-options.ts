// SPDX-License-Identifier: Apache-2.0
import { choice, text } from './option.js';

/** The server's standard output. */
export const outputOptions = {
  firstKeyFile: text({
    variable: 'VERAVOX_FIRST_KEY_FILE',
    accepts: 'a file',
    default: '',
    defaultText: 'none: the key is printed',
    description:
      "File for the API key of the first start, readable by the server's user only. Set it if standard output is stored, as in a container: otherwise every reader of the log has the key.",
  }),
  logFormat: choice({
    variable: 'VERAVOX_LOG_FORMAT',
    choices: ['auto', 'json', 'text'],
    default: 'auto',
    description:
      'Log format: JSON lines, or short lines for people. `auto` writes text on a terminal and JSON elsewhere.',
  }),
  logLevel: choice({
    variable: 'VERAVOX_LOG_LEVEL',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
    description: 'Lowest severity to log; `debug` adds requests for `/livez`, `/readyz` and `/metrics`.',
  }),
};
