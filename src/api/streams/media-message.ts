// SPDX-License-Identifier: Apache-2.0
import { Ajv, type ValidateFunction } from 'ajv';
import { ownSchemas } from '../../base/config/own-schemas.js';
import {
  callMediaMessage,
  callStartMessage,
  type LegName,
  telephoneEncodings,
} from '../../base/contract/call.js';
import { isJsonObject } from '../../base/json-object.js';
import { once } from '../../base/once.js';
import { parseObject } from '../upload/json-body.js';
import { invalid } from './client-message.js';

/** A provider's message that matters here. */
export type MediaMessage =
  | {
      readonly event: 'start';
      /** Names of the call at the provider. */
      readonly ids: readonly string[];
      readonly encoding: (typeof telephoneEncodings)[keyof typeof telephoneEncodings];
      readonly parameters: Readonly<Record<string, string>>;
    }
  | {
      readonly event: 'media';
      readonly leg: LegName;
      /** Since the start of the stream. */
      readonly atMs: number;
      readonly bytes: Uint8Array;
    }
  | { readonly event: 'stop' };

interface StartMessage {
  readonly streamSid: string;
  readonly start: {
    readonly callSid?: string;
    readonly customParameters?: Readonly<Record<string, string>>;
    readonly mediaFormat: { readonly encoding: keyof typeof telephoneEncodings };
  };
}

interface AudioMessage {
  readonly media: {
    readonly track?: LegName;
    readonly timestamp: number | string;
    readonly payload: string;
  };
}

/** Telnyx's names by Twilio's. */
const otherNames: Readonly<Record<string, string>> = {
  streamSid: 'stream_id',
  callSid: 'call_control_id',
  customParameters: 'custom_parameters',
  mediaFormat: 'media_format',
  sampleRate: 'sample_rate',
};

/** Compiled for the first call, not at start. */
const checks = once(() => {
  const ajv = new Ajv({ ...ownSchemas, allowUnionTypes: true });
  return {
    isStart: ajv.compile<StartMessage>(callStartMessage),
    isMedia: ajv.compile<AudioMessage>(callMediaMessage),
  };
});

/** With Twilio's names, in the parts that matter. */
function translated(object: Record<string, unknown>): Record<string, unknown> {
  const result = { ...object };
  for (const [name, other] of Object.entries(otherNames)) {
    if (result[name] === undefined && Object.hasOwn(object, other)) result[name] = object[other];
  }
  for (const part of ['start', 'mediaFormat']) {
    const value = result[part];
    if (isJsonObject(value)) result[part] = translated(value);
  }
  return result;
}

function checked<Message>(isValid: ValidateFunction<Message>, message: unknown): Message {
  if (isValid(message)) return message;
  const [fault] = isValid.errors ?? [];
  const values: unknown = fault?.params.allowedValues;
  const allowed = Array.isArray(values) ? ` (${values.join(', ')})` : '';
  throw invalid(`${fault?.instancePath.slice(1).replaceAll('/', '.') || 'it'} ${fault?.message}${allowed}`);
}

/**
 * Reads a message of a media stream, as Twilio, Telnyx and others send them.
 * @returns undefined for events without a meaning here, such as marks
 * @throws ServiceError STREAM_MESSAGE_INVALID, JSON_LIMIT, JSON_MALFORMED
 */
export function mediaMessage(text: Uint8Array): MediaMessage | undefined {
  const message = parseObject(Buffer.from(text));
  switch (message.event) {
    case 'start': {
      const { streamSid, start } = checked(checks().isStart, translated(message));
      return {
        event: 'start',
        ids: [streamSid, ...(start.callSid === undefined ? [] : [start.callSid])],
        encoding: telephoneEncodings[start.mediaFormat.encoding],
        parameters: start.customParameters ?? {},
      };
    }
    case 'media': {
      const { track, timestamp, payload } = checked(checks().isMedia, message).media;
      return {
        event: 'media',
        leg: track ?? 'inbound',
        atMs: Number(timestamp),
        bytes: Buffer.from(payload, 'base64'),
      };
    }
    case 'stop':
      return { event: 'stop' };
    default:
      if (typeof message.event === 'string') return undefined;
      throw invalid('event must be a string');
  }
}
