// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from 'node:crypto';
import { errorBody } from '../base/contract/error-body.js';
import { messageOf } from '../base/errors/message-of.js';
import { ServiceError } from '../base/errors/service-error.js';
import { shown } from '../base/errors/shown-text.js';
import { printJson, tell } from './output.js';

/** Prints why a file was not analysed; with `json` also as the server would, for one line per file. */
export function reportFailure(file: string, error: unknown, json: true | undefined): void {
  const message = messageOf(error, file);
  tell(shown`${file}: ${message}\n`);
  if (!json) return;
  const correlationId = randomUUID();
  const body =
    error instanceof ServiceError
      ? errorBody(error, correlationId)
      : { error: 'validation_error', message, status: 400, correlation_id: correlationId };
  printJson({ file, ...body });
}
