// SPDX-License-Identifier: Apache-2.0
import type { ArenaRegion } from '../../analysis/memory/arena.js';
import type { ArenaQueue } from '../upload/arena-queue.js';
import { type FormLimits, receiveForm } from '../upload/form-upload.js';
import { noteFields } from '../upload/ignored-fields.js';
import { type FieldReader, filesOf, partNamed } from './form-fields.js';
import type { RouteRequest } from './route.js';

/** A request to analyse a file, arrived and checked. */
export interface AnalysisInput<Fields> {
  readonly fields: Fields;
  /** The file in the upload arena, until `release` is called. */
  readonly region: ArenaRegion;
  release(): void;
}

export interface FormInput<Fields> extends AnalysisInput<Fields> {
  /** All files of the field; `region` is the first. */
  readonly regions: readonly ArenaRegion[];
  /** The files of the limits' second field of files. */
  readonly otherRegions: readonly ArenaRegion[];
  /** The content of the limits' large field, in place; undefined without one. */
  readonly largeField: Uint8Array | undefined;
}

/**
 * Receives a form with a file, or with several. Must be called before the request's handler first awaits. The caller must
 * release the input. Rejects with ServiceError, or with the signal's reason when the client has gone.
 */
export async function receiveFormInput<Fields>(
  request: RouteRequest,
  reader: FieldReader<Fields>,
  queue: ArenaQueue,
  limits: FormLimits,
  maxFiles = 1,
): Promise<FormInput<Fields>> {
  const { body, contentType, record } = request;
  const startedMs = performance.now();
  const form = await receiveForm(body, contentType, queue, limits);
  try {
    record.stagesMs = { receive: performance.now() - startedMs };
    record.bodyBytes = form.bodyBytes;
    const { fileField, largeField, otherFiles } = limits;
    const further = [largeField?.name, otherFiles?.field].filter((name) => name !== undefined);
    const known = [...reader.names, fileField, ...further];
    noteFields(
      request,
      form.parts.map(({ name }) => name),
      known,
    );
    const fields = reader.fromForm(form);
    const regions = filesOf(form, fileField, maxFiles).map((part) => form.locate(part));
    const others =
      otherFiles && form.parts.some(({ name }) => name === otherFiles.field)
        ? filesOf(form, otherFiles.field, otherFiles.maxFiles)
        : [];
    const large = largeField && partNamed(form, largeField.name);
    return {
      fields,
      largeField: large && form.bytes(large),
      region: regions[0] as ArenaRegion,
      regions,
      otherRegions: others.map((part) => form.locate(part)),
      release: () => form.release(),
    };
  } catch (error) {
    form.release();
    throw error;
  }
}
