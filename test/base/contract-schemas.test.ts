// SPDX-License-Identifier: Apache-2.0
//
// The schemas of src/base/contract accept the examples of the interface document and refuse them with one field more or less.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { manifestSchema } from '../../src/analysis/models/manifest-schema.js';
import { errorBody, forbiddenErrorBody } from '../../src/base/contract/error-bodies.js';
import { downloadLinkSchemas, uploadLinkSchemas } from '../../src/base/contract/file-fields.js';
import { legacyPrediction } from '../../src/base/contract/legacy-prediction.js';
import { EMBEDDING_SIZE } from '../../src/base/contract/limits.js';
import { linkList } from '../../src/base/contract/link-list.js';
import { LARGE_FILE_MODEL } from '../../src/base/contract/model-ids.js';
import {
  largeFileFieldSchemas,
  legacyFieldSchemas,
  predictFieldSchemas,
} from '../../src/base/contract/predict-fields.js';
import { largeFilePrediction, prediction } from '../../src/base/contract/prediction.js';
import { enrollFieldSchemas, verifyFieldSchemas } from '../../src/base/contract/voice-fields.js';
import { enrollment, verification } from '../../src/base/contract/voice-identity.js';
import { operatingPointSchema } from '../../src/state/operating-points/operating-point.js';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const correlationId = 'a1b2c3d4-e5f6-7890-abcd-ef1234567890';
const examples: [name: string, schema: object, example: Json][] = [
  ['prediction', prediction, prediction.examples[0]],
  ['large-file prediction', largeFilePrediction, largeFilePrediction.examples[0]],
  ['legacy prediction', legacyPrediction, legacyPrediction.examples[0]],
  [
    'enrollment',
    enrollment,
    {
      embedding: Array.from({ length: EMBEDDING_SIZE }, () => -0.0625),
      processing_time: 13.58,
      model_version: 'voiceprint-1-2026-11-22',
      deepfake_checked: true,
    },
  ],
  ['verification', verification, verification.examples[0]],
  [
    'link list',
    linkList,
    { url: [{ key: 'analysis/recording.wav', value: 'https://storage.example.com/a?X-Amz-Signature=0' }] },
  ],
  ['error', errorBody, errorBody.examples[0]],
  [
    'forbidden error',
    forbiddenErrorBody,
    {
      statusCode: 403,
      message: {
        detail: 'The voice is AI-generated with a confidence of 97.5%.',
        type: 'forbidden_error',
        correlation_id: correlationId,
        timestamp: '2026-11-21T12:00:00.000Z',
      },
    },
  ],
];

/** The value with each of its objects, at any depth, changed in turn. */
function* changedAnywhere(
  value: Json,
  change: (object: { readonly [name: string]: Json }) => Iterable<Json>,
): Iterable<Json> {
  if (value === null || typeof value !== 'object') return;
  if (isList(value)) {
    for (const [i, item] of value.entries()) {
      for (const changed of changedAnywhere(item, change)) yield value.with(i, changed);
    }
    return;
  }
  yield* change(value);
  for (const [name, member] of Object.entries(value)) {
    for (const changed of changedAnywhere(member, change)) yield { ...value, [name]: changed };
  }
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

test('what requests, manifests and operating points are checked by are schemas', () => {
  const draft7 = new Ajv();
  const loaded = [{ id: LARGE_FILE_MODEL, aliases: [] }];
  const fields = {
    predictFields: predictFieldSchemas(loaded),
    largeFileFields: largeFileFieldSchemas(loaded),
    legacyFieldSchemas,
  };
  const ofFields = {
    ...fields,
    enrollFieldSchemas,
    verifyFieldSchemas,
    uploadLinkSchemas,
    downloadLinkSchemas,
  };
  const ofForms = Object.entries(ofFields).map(([name, properties]) => [
    name,
    { type: 'object', properties },
  ]);
  for (const [name, schema] of [...ofForms, ...Object.entries({ manifestSchema, operatingPointSchema })]) {
    assert.ok(draft7.validateSchema(schema as object), `${name}: ${draft7.errorsText()}`);
  }
  assert.ok(!draft7.validateSchema({ type: 'object', properties: { a: { minimum: 'b' } } }));
});

for (const [name, schema, example] of examples) {
  test(`the schema of the ${name} accepts its example, and nothing with a field more or less`, () => {
    const validate = ajv.compile(schema);
    assert.ok(validate(example), ajv.errorsText(validate.errors));
    const variants = [
      ...changedAnywhere(example, (object) => [{ ...object, unknown: 1 }]),
      ...changedAnywhere(example, (object) =>
        Object.keys(object).map((left) =>
          Object.fromEntries(Object.entries(object).filter(([member]) => member !== left)),
        ),
      ),
    ];
    assert.ok(variants.length >= 2);
    for (const variant of variants) assert.ok(!validate(variant), JSON.stringify(variant));
  });
}
