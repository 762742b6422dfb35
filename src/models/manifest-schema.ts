// SPDX-License-Identifier: Apache-2.0

const number = { type: 'number' } as const;
const boolean = { type: 'boolean' } as const;
const positiveInteger = { type: 'integer', minimum: 1 } as const;
const oneOf = (...values: string[]) => ({ type: 'string', enum: values }) as const;

const normalisation = oneOf('none', 'mean', 'mean_variance');

function closedObject(properties: Record<string, object>, optional: readonly string[] = []) {
  return {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
    properties,
  };
}

const waveform = closedObject({ kind: { const: 'waveform' }, input_gain: number, normalisation });

const spectrogram = closedObject(
  {
  kind: { const: 'spectrogram' },
  fft_size: positiveInteger,
  window_length: positiveInteger,
  hop_length: positiveInteger,
  window: oneOf('hann', 'hamming', 'povey', 'rectangular'),
  periodic_window: boolean,
  centred: boolean,
  pre_emphasis: number,
  remove_dc_offset: boolean,
  input_gain: number,
  scale: oneOf('linear', 'mel'),
  bands: positiveInteger,
  first_bin: { type: 'integer', minimum: 0 },
  fmin_hz: number,
  fmax_hz: number,
  mel_formula: oneOf('htk', 'slaney'),
  mel_norm: oneOf('none', 'slaney'),
  triangles_on_mel_axis: boolean,
  power: number,
  log: oneOf('none', 'natural', 'log10', 'decibel'),
  log_floor: number,
  normalisation,
  dynamic_range_db: { type: 'number', minimum: 0 },
  normalise_globally: boolean,
  layout: oneOf('bands_frames', 'frames_bands'),
  },
  ['dynamic_range_db'],
);

function model(task: string, output: object) {
  return closedObject(
    {
      id: { type: 'string', pattern: '^[a-z0-9][a-z0-9.-]{0,63}$' },
      aliases: { type: 'array', items: { type: 'string' } },
      task: { const: task },
      // A plain name: a manifest never reaches out of its own folder.
      file: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*\\.onnx$' },
      sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
      licence: { type: 'string' },
      sample_rate_hz: { const: 16000 },
      window_samples: positiveInteger,
      hop_samples: positiveInteger,
      short_window: oneOf('repeat', 'zero_pad'),
      features: {
        type: 'object',
        required: ['kind'],
        discriminator: { propertyName: 'kind' },
        oneOf: [waveform, spectrogram],
      },
      input: closedObject({
        name: { type: 'string' },
        shape: {
          type: 'array',
          minItems: 2,
          items: [{ const: 'batch' }],
          additionalItems: positiveInteger,
        },
      }),
      output,
      calibration: closedObject({ scale: number, bias: number }),
      operating_point: { type: 'number', minimum: 0, maximum: 1 },
      metrics: { type: 'object' },
      training: { type: 'object' },
    },
    ['training'],
  );
}

const detection = model(
  'detection',
  closedObject({
    name: { type: 'string' },
    kind: oneOf('logit', 'probability'),
    index: { type: 'integer', minimum: 0 },
  }),
);

const speaker = model(
  'speaker',
  closedObject({ name: { type: 'string' }, kind: { const: 'embedding' }, index: { const: 0 } }),
);

/** JSON Schema (draft 7) of models/manifest.json. */
export const manifestSchema = closedObject({
  version: { const: 1 },
  models: {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      required: ['task'],
      discriminator: { propertyName: 'task' },
      oneOf: [detection, speaker],
    },
  },
});
