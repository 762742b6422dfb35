// SPDX-License-Identifier: Apache-2.0
import { LINK_FIELD } from '../../base/contract/link-field.js';
import { ServiceError } from '../../base/errors/service-error.js';
import type { PresignedFetcher } from '../fetch/presigned-fetcher.js';
import type { ArenaQueue } from '../upload/arena-queue.js';
import type { FormLimits } from '../upload/form-upload.js';
import { noteFields } from '../upload/ignored-fields.js';
import { isJsonType, receiveJson } from '../upload/json-body.js';
import type { FieldReader } from './form-fields.js';
import { type AnalysisInput, receiveFormInput } from './form-input.js';
import type { RouteRequest } from './route.js';

/** The ways of files into the upload arena. */
export interface FileIntake {
  readonly queue: ArenaQueue;
  readonly fetcher: PresignedFetcher;
}

/** The limits of a form, and the refusal of a file behind a link if that differs. */
export interface InputLimits extends FormLimits {
  readonly linkTooLarge?: () => ServiceError;
}

const MAX_JSON_BYTES = 64 * 1024;

/**
 * Receives a form with a file, or a JSON object with a link to one and otherwise the same fields. Must be called before
 * the request's handler first awaits. The caller must release the input. Rejects with ServiceError, or with the
 * signal's reason when the client has gone.
 */
export async function receiveInput<Fields>(
  request: RouteRequest,
  reader: FieldReader<Fields>,
  intake: FileIntake,
  limits: InputLimits,
): Promise<AnalysisInput<Fields>> {
  const { contentType } = request;
  if (isJsonType(contentType)) return receiveLink(request, reader, intake, limits);
  if (/^multipart\/form-data *(;|$)/i.test(contentType)) {
    return receiveFormInput(request, reader, intake.queue, limits);
  }
  throw new ServiceError('CONTENT_TYPE_INVALID', {
    expected: 'multipart/form-data or application/json',
    received: contentType === '' ? 'none' : contentType,
  });
}

async function receiveLink<Fields>(
  request: RouteRequest,
  reader: FieldReader<Fields>,
  { fetcher }: FileIntake,
  limits: InputLimits,
): Promise<AnalysisInput<Fields>> {
  const { body, contentType, signal, record, caller } = request;
  const startedMs = performance.now();
  const { receiveTimeoutMs } = limits;
  const object = await receiveJson(body, contentType, { maxBytes: MAX_JSON_BYTES, receiveTimeoutMs });
  noteFields(request, Object.keys(object), [...reader.names, LINK_FIELD]);
  const link = linkOf(object);
  const fields = reader.fromJson(object);
  const span = record.trace?.begin('fetch', 'client');
  try {
    const { linkTooLarge: fileTooLarge = limits.fileTooLarge } = limits;
    const { region, bytes, release } = await fetcher.receive(link, { ...limits, fileTooLarge }, signal, {
      holder: body.holder,
      account: caller?.account,
      traceparent: span?.traceparent,
    });
    record.fetch = 'fetched';
    record.stagesMs = { receive: performance.now() - startedMs };
    record.bodyBytes = bytes;
    return { fields, region, release };
  } catch (error) {
    const isRefusal = error instanceof ServiceError && error.status < 500;
    record.fetch = signal.aborted ? 'abandoned' : isRefusal ? 'refused' : 'failed';
    throw error;
  } finally {
    const isFetched = record.fetch === 'fetched';
    span?.end({
      facts: { 'http.request.method': 'GET' },
      problem: isFetched ? undefined : record.fetch,
    });
  }
}

/** @throws ServiceError FIELD_INVALID, which never shows a link: its query holds a signature */
function linkOf(object: Record<string, unknown>): string {
  const link = Object.hasOwn(object, LINK_FIELD) ? object[LINK_FIELD] : undefined;
  if (typeof link === 'string') return link;
  const type = Array.isArray(link) ? 'array' : typeof link;
  const received = link === undefined ? 'none' : link === null ? 'null' : `a value of type ${type}`;
  throw new ServiceError('FIELD_INVALID', { field: LINK_FIELD, expected: 'a string', received });
}
