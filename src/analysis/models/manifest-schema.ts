// SPDX-License-Identifier: Apache-2.0
import { SAMPLE_RATE_HZ } from './model-audio.js';

// The literal types say everything that a type of the manifest follows from: see manifest.ts.
const number = (description: string) => ({ type: 'number', description }) as const;
const boolean = (description: string) => ({ type: 'boolean', description }) as const;
const text = (description: string) => ({ type: 'string', description }) as const;
const positiveInteger = (description: string) => ({ type: 'integer', minimum: 1, description }) as const;
const anyObject = (description: string) => ({ type: 'object', description }) as const;
const oneOf = <const Values extends readonly string[]>(description: string, ...values: Values) =>
  ({ type: 'string', enum: values, description }) as const;

function closedObject<
  const Properties extends Readonly<Record<string, object>>,
  const Optional extends keyof Properties & string = never,
>(properties: Properties, optional: readonly Optional[] = []) {
  const isRequired = (name: string): name is Exclude<keyof Properties & string, Optional> =>
    !optional.some((other) => other === name);
  const required = Object.keys(properties).filter(isRequired);
  return { type: 'object', additionalProperties: false, required, properties } as const;
}

const inputGain = number(
  'Samples, which lie within -1 and 1, are multiplied by it first. Kaldi works on 16-bit integers: 32768.',
);

/** The model's input is the samples themselves. */
export const waveformSchema = closedObject({
  kind: { const: 'waveform', description: 'The samples themselves.' },
  input_gain: inputGain,
  normalisation: oneOf(
    'Over the samples of one input: nothing, less their mean, or also divided by the root of their variance plus 1e-7.',
    'none',
    'mean',
    'mean_variance',
  ),
});

/** The model's input is a spectrogram. */
export const spectrogramSchema = closedObject(
  {
    kind: { const: 'spectrogram', description: 'A spectrogram, linear or mel.' },
    fft_size: positiveInteger('Points of the FFT; even, and fast when it has small prime factors.'),
    window_length: positiveInteger('Samples per frame, at most `fft_size`; zeros fill the rest of the FFT.'),
    hop_length: positiveInteger('Samples between the beginnings of two frames.'),
    window: oneOf(
      "Window function; `povey` is Kaldi's: `hann` to the power of 0.85.",
      'hann',
      'hamming',
      'povey',
      'rectangular',
    ),
    periodic_window: boolean(
      "Periodic as librosa's and `torch.stft`'s windows are, or symmetric as Kaldi's and NumPy's.",
    ),
    centred: boolean(
      'True: frame t has its middle at sample t x `hop_length`, as in librosa; 1 + floor(samples / hop) frames. False: frame t begins there, and only whole frames count, as in Kaldi; 1 + floor((samples - window) / hop) frames.',
    ),
    edges: oneOf(
      'What a centred frame finds beyond the ends of the input: the input mirrored, as in `torch.stft`, which is the default, or zeros, as in librosa since 0.9.',
      'mirrored',
      'zeros',
    ),
    pre_emphasis: number("k of x[i] - k x[i-1], per frame, with x[-1] = x[0]; Kaldi's is 0.97, 0 is none."),
    remove_dc_offset: boolean("Takes each frame's mean off before pre-emphasis, as Kaldi does."),
    input_gain: inputGain,
    scale: oneOf(
      '`linear`: the bins of the FFT from `first_bin` on; `mel`: triangles from `fmin_hz` to `fmax_hz`.',
      'linear',
      'mel',
    ),
    bands: positiveInteger('How many bins or triangles.'),
    first_bin: {
      type: 'integer',
      minimum: 0,
      description: 'Linear scale: the lowest bin that is used; 1 leaves out 0 Hz.',
    },
    fmin_hz: number('Mel scale: where the first triangle begins.'),
    fmax_hz: number('Mel scale: where the last triangle ends; at most 8000.'),
    mel_formula: oneOf(
      "`htk`: 2595 log10(1 + f / 700), Kaldi's too; `slaney`: librosa's, linear below 1 kHz.",
      'htk',
      'slaney',
    ),
    mel_norm: oneOf(
      '`slaney`: each triangle has an area of 1 over Hz, as in librosa; `none`: a peak of 1, as in Kaldi.',
      'none',
      'slaney',
    ),
    triangles_on_mel_axis: boolean(
      'Triangles are straight over mel, as in Kaldi, or over Hz, as in librosa.',
    ),
    power: { type: 'number', enum: [1, 2], description: '1: magnitudes; 2: powers.' },
    log: oneOf(
      'Of what came out, at least `log_floor`; `decibel` is 10 log10.',
      'none',
      'natural',
      'log10',
      'decibel',
    ),
    log_floor: number("Smallest number that the logarithm is taken of; Kaldi's is 1.1920929e-7."),
    normalisation: oneOf(
      'Over the frames of one input: nothing, less the mean, or also divided by the root of the variance plus 1e-7.',
      'none',
      'mean',
      'mean_variance',
    ),
    dynamic_range_db: {
      type: 'number',
      minimum: 0,
      description:
        'With a logarithm: what lies further than this below the largest value of the input is raised to that floor, and a global normalisation leaves it out of its mean and variance, so that silence around speech changes nothing within it. 0, the default: off.',
    },
    normalise_globally: boolean('One mean and variance over all bands together instead of one per band.'),
    layout: oneOf('Which axis comes first.', 'bands_frames', 'frames_bands'),
  },
  ['edges', 'dynamic_range_db'],
);

/** What the ONNX file takes. */
export const inputSchema = closedObject({
  name: text("The name of the file's only input; its type is float32."),
  shape: {
    type: 'array',
    minItems: 2,
    items: [{ const: 'batch' }],
    additionalItems: { type: 'integer', minimum: 1 },
    description:
      "`batch`, then the axes of one input: `[samples]`, `[bands, frames]` or `[frames, bands]`, with axes of 1 wherever the file has them, or all in one axis. The file's batch axis may be dynamic, or fixed to 1.",
  },
});

const outputName = text(
  'The name of the output that is read; others are ignored. float32, the batch axis first.',
);

/** What a detector puts out. */
export const detectionOutputSchema = closedObject({
  name: outputName,
  kind: oneOf(
    '`logit`: the log-odds of one class, or a logit per class, of which the softmax is taken; `independent_logit`: the number at `index` is a log-odds by itself, whatever stands beside it; `probability`: likewise, already 0 to 1.',
    'logit',
    'independent_logit',
    'probability',
  ),
  index: {
    type: 'integer',
    minimum: 0,
    description: 'Which of the numbers per input is the AI-generated class; 0 where there is only one.',
  },
});

/** What a speaker model puts out. */
export const speakerOutputSchema = closedObject({
  name: outputName,
  kind: {
    const: 'embedding',
    description: '256 numbers per input, of any length: the server normalises them.',
  },
  index: { const: 0, description: 'Always 0.' },
});

/** sigmoid(scale * x + bias) */
export const calibrationSchema = closedObject({
  scale: number('Negative where a high number stands for a human voice.'),
  bias: number('Moves the point where the answer is 0.5.'),
});

const clipFile = {
  type: 'string',
  // Never out of the folder of the manifest.
  pattern: '^([A-Za-z0-9][A-Za-z0-9._-]*/)*[A-Za-z0-9][A-Za-z0-9._-]*$',
  description: 'An audio file, by its path from the folder of the manifest.',
} as const;
const tolerances = {
  tolerance: {
    type: 'number',
    exclusiveMinimum: 0,
    description: 'How far each number may be off, where the default does not suit the model.',
  },
  cuda_tolerance: {
    type: 'number',
    exclusiveMinimum: 0,
    description: 'The same where CUDA runs the model, in place of `tolerance`.',
  },
} as const;

/** What a detector says of a clip. */
export const detectionAnswerSchema = closedObject(
  {
    file: clipFile,
    scores: {
      type: 'array',
      minItems: 1,
      items: { type: 'number', minimum: 0, maximum: 1 },
      description: 'The scores of its windows, one after the other.',
    },
    ...tolerances,
  },
  ['tolerance', 'cuda_tolerance'],
);

/** What a speaker model says of a clip. */
export const speakerAnswerSchema = closedObject(
  {
    file: clipFile,
    embedding: {
      type: 'array',
      minItems: 1,
      maxItems: 256,
      items: { type: 'number' },
      description: 'The first numbers of its embedding, normalised to length 1.',
    },
    ...tolerances,
  },
  ['tolerance', 'cuda_tolerance'],
);

const features = {
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: [waveformSchema, spectrogramSchema],
  description: 'What the input is made of: see below.',
} as const;

function modelSchema<const Task extends string, const Output extends object, const Answer extends object>(
  task: Task,
  output: Output,
  answer: Answer,
) {
  return closedObject(
    {
      id: {
        type: 'string',
        pattern: '^[a-z0-9][a-z0-9.-]{0,63}$',
        description:
          'Names these weights and no others; requests may use it. Lower-case letters, digits, dots and hyphens.',
      },
      aliases: {
        type: 'array',
        items: { type: 'string' },
        description: 'Further names that requests may use. Unlike the id, they may move to another model.',
      },
      task: { const: task, description: '`detection` (human or AI-generated) or `speaker` (whose voice).' },
      file: {
        type: 'string',
        // A plain name: a manifest never reaches out of its own folder.
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*\\.onnx$',
        description: 'The ONNX file, which lies beside the manifest and holds its own weights.',
      },
      sha256: {
        type: 'string',
        pattern: '^[0-9a-f]{64}$',
        description: "The file's SHA-256, in lower-case hexadecimal; `veravox models record` writes it.",
      },
      licence: text('The licence of the weights.'),
      sample_rate_hz: { const: SAMPLE_RATE_HZ, description: `Audio is resampled to it: ${SAMPLE_RATE_HZ}.` },
      window_samples: positiveInteger('Samples per model input.'),
      hop_samples: positiveInteger(
        'Samples between the inputs of one 5 s window, where `window_samples` is shorter; the last input slides back to end with the window. Each input gives one of the `scores`.',
      ),
      short_window: oneOf(
        'How audio shorter than `window_samples` is filled up: with itself, over and over, or with zeros. `repeat_sound` first leaves out what lies before the first and after the last sample within 60 dB of the loudest, in windows that are full too.',
        'repeat',
        'repeat_sound',
        'zero_pad',
      ),
      features,
      input: { ...inputSchema, description: 'What the ONNX file takes.' },
      output: { ...output, description: 'Where in what the file gives the answer is.' },
      calibration: {
        ...calibrationSchema,
        description:
          'Makes a number from 0 to 1 of a log-odds x, or of the cosine x of two voiceprints: sigmoid(scale x + bias).',
      },
      operating_point: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        description: 'The calibrated number from which the answer is yes.',
      },
      known_answers: {
        type: 'array',
        items: answer,
        description: 'What the model is known to say of some clips; `veravox models record` writes them.',
      },
      metrics: anyObject('How good it is, for people; any members.'),
      training: anyObject('How it was made, for people; any members.'),
    },
    ['known_answers', 'training'],
  );
}

/** An entry of a detector. */
export const detectionSchema = modelSchema('detection', detectionOutputSchema, detectionAnswerSchema);

/** An entry of a speaker model. */
export const speakerSchema = modelSchema('speaker', speakerOutputSchema, speakerAnswerSchema);

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
      oneOf: [detectionSchema, speakerSchema],
    },
  },
});
