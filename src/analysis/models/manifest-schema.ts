// SPDX-License-Identifier: Apache-2.0
import { lossyCodecs } from '../../base/addon/addon.js';
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
  'Factor for the samples, which are between -1 and 1. Use 32768 for models trained with Kaldi, which works on 16-bit integers.',
);

const audibleOnly = boolean(
  'True: only what a person can hear takes part. A steep high-pass (within 0.2 dB from 75 Hz on, 80 dB down below 45 Hz) takes offsets and rumble away before voice activity and features, and each input is scaled to a root mean square of 0.06. Mean spectra and phase coherences look at nothing below 80 Hz, where they have a mirror image of the bins from there on, and the fifth product of a phase coherence, whose sign is that of the recording, is 0. False (the default): the input as it is.',
);

/** The model's input is the samples themselves. */
export const waveformSchema = closedObject(
  {
    kind: { const: 'waveform', description: 'The samples themselves.' },
    input_gain: inputGain,
    audible_only: audibleOnly,
    normalisation: oneOf(
      'Over the samples of one input: none, minus their mean, or also divided by the root of their variance plus 1e-7.',
      'none',
      'mean',
      'mean_variance',
    ),
  },
  ['audible_only'],
);

/** The model's input is a spectrogram. */
export const spectrogramSchema = closedObject(
  {
    kind: { const: 'spectrogram', description: 'A spectrogram, linear or mel.' },
    fft_size: positiveInteger('Points of the FFT; even, and fastest with small prime factors.'),
    window_length: positiveInteger('Samples per frame, at most `fft_size`; zeros fill the rest of the FFT.'),
    hop_length: positiveInteger('Samples from the start of one frame to the next.'),
    window: oneOf(
      "Window function; `povey` is Kaldi's: `hann` to the power of 0.85.",
      'hann',
      'hamming',
      'povey',
      'rectangular',
    ),
    periodic_window: boolean(
      'True: periodic, as in librosa and `torch.stft`. False: symmetric, as in Kaldi and NumPy.',
    ),
    centred: boolean(
      'True: the middle of frame t is at sample t x `hop_length`, as in librosa; 1 + floor(samples / hop) frames. False: frame t starts there, and only whole frames count, as in Kaldi; 1 + floor((samples - window) / hop) frames.',
    ),
    edges: oneOf(
      'Content of centred frames beyond the ends of the input: the mirrored input, as in `torch.stft` (the default), or zeros, as in librosa since 0.9.',
      'mirrored',
      'zeros',
    ),
    pre_emphasis: number(
      'k of x[i] - k x[i-1], per frame, with x[-1] = x[0]. 0.97 in Kaldi; 0 turns it off.',
    ),
    remove_dc_offset: boolean("Subtracts each frame's mean before pre-emphasis, as Kaldi does."),
    input_gain: inputGain,
    audible_only: audibleOnly,
    scale: oneOf(
      '`linear`: the bins of the FFT from `first_bin` on; `mel`: triangles from `fmin_hz` to `fmax_hz`.',
      'linear',
      'mel',
    ),
    bands: positiveInteger('Number of bins or triangles.'),
    first_bin: {
      type: 'integer',
      minimum: 0,
      description: 'Linear scale: the lowest bin used; 1 skips 0 Hz.',
    },
    fmin_hz: number('Mel scale: start of the first triangle.'),
    fmax_hz: number('Mel scale: end of the last triangle; at most 8000.'),
    mel_formula: oneOf(
      '`htk`: 2595 log10(1 + f / 700), as in Kaldi; `slaney`: as in librosa, linear below 1 kHz.',
      'htk',
      'slaney',
    ),
    mel_norm: oneOf(
      '`slaney`: each triangle has an area of 1 over Hz, as in librosa; `none`: each has a peak of 1, as in Kaldi.',
      'none',
      'slaney',
    ),
    triangles_on_mel_axis: boolean(
      'True: triangles are straight over mel, as in Kaldi. False: over Hz, as in librosa.',
    ),
    power: { type: 'number', enum: [1, 2], description: '1 for magnitudes, 2 for powers.' },
    log: oneOf(
      'Logarithm of the values, with `log_floor` as the minimum; `decibel` is 10 log10.',
      'none',
      'natural',
      'log10',
      'decibel',
    ),
    log_floor: number('Values below are raised to it before the logarithm; 1.1920929e-7 in Kaldi.'),
    normalisation: oneOf(
      'Over the frames of one input: none, minus the mean, or also divided by the root of the variance plus 1e-7.',
      'none',
      'mean',
      'mean_variance',
    ),
    dynamic_range_db: {
      type: 'number',
      minimum: 0,
      description:
        'With a logarithm: values further than this below the largest value of the input are raised to that floor, and global normalisation excludes them from mean and variance, so that silence around speech does not change the speech. 0 (the default) turns it off.',
    },
    normalise_globally: boolean('One mean and variance over all bands, instead of one per band.'),
    layout: oneOf('Order of the axes.', 'bands_frames', 'frames_bands'),
    mean_spectrum_fft_sizes: {
      type: 'array',
      items: { type: 'integer', minimum: 64 },
      maxItems: 4,
      description:
        'FFT sizes of the mean spectra, in points: up to four, each a multiple of 4 from 64 to 8192. Their numbers follow the bands, in this order. Frames (Hann, symmetric) start a quarter of the size apart. Twelve curves follow each other, each of half as many bins as points, from 0 Hz on, of the levels: the natural logarithms of the powers, at least 1e-9. Over the frames: the mean, the lower decile, the upper decile and the standard deviation; the mean over the loudest third and over the quietest third of the frames, rounded down but at least one, by their mean level over all bins (of two that are as loud, the earlier one is the quieter); the second largest level (of a single frame, its level); the autocorrelation, which is the mean product of the deviations of successive frames over v, the variance plus 1e-6; the skewness, which is the mean cube of the deviations over v to the power of 1.5; the share of the frames in which the bin is larger than each of the three on either side; that in which it is smaller; the mean absolute difference from the next bin. Where neighbours are missing, the last three are 0; so is the autocorrelation of a single frame. From each of the first seven curves its running median over 33 bins is subtracted; the ends are mirrored. `input_gain` applies, normalisation and dynamic range do not. By default there is none.',
    },
    phase_coherence_fft_sizes: {
      type: 'array',
      items: { type: 'integer', minimum: 8 },
      maxItems: 4,
      description:
        'FFT sizes of the phase coherences, in points: up to four, each a multiple of 4 from 8 to 8192. Their numbers come last, in this order. Frames start a quarter of the size apart, as for a mean spectrum. Samples for fewer than three frames are repeated until they fill three. With u(t, k) the spectrum of frame t at bin k divided by its magnitude, each of five products is averaged over the frames: u(t + 1, k) u(t - 1, k) / u(t, k)²; the same with t ± 4; d(t, k) = u(t, k + 1) / u(t, k); d(t, k) / d(t - 1, k); u(t, j) u(t, k - j) / u(t, k), where j is k / 2 rounded down. The weight is the root of the magnitude at (t, k); of the third and fourth product the smaller of the roots at k and k + 1, of the fifth the smaller of those at j and k. 1e-7 is added to every magnitude. Of each mean, half as many real parts as points, from 0 Hz on, then as many imaginary parts. `input_gain` applies. By default there is none.',
    },
  },
  ['edges', 'audible_only', 'dynamic_range_db', 'mean_spectrum_fft_sizes', 'phase_coherence_fft_sizes'],
);

/** The input of the ONNX file. */
export const inputSchema = closedObject({
  name: text("The name of the file's only input; its type is float32."),
  shape: {
    type: 'array',
    minItems: 2,
    items: [{ const: 'batch' }],
    additionalItems: { type: 'integer', minimum: 1 },
    description:
      "`batch`, then the axes of one input: `[samples]`, `[bands, frames]` or `[frames, bands]`, with axes of 1 as in the file, or all in one axis, as it must be with a mean spectrum or a phase coherence. The file's batch axis may be dynamic or 1.",
  },
});

const outputName = text(
  'The name of the output to read; others are ignored. float32, with the batch axis first.',
);

/** The output of a detector. */
export const detectionOutputSchema = closedObject({
  name: outputName,
  kind: oneOf(
    '`logit`: the log-odds of one class, or a logit per class for softmax; `independent_logit`: the number at `index` is a log-odds by itself, independent of the others; `probability`: the same, already from 0 to 1.',
    'logit',
    'independent_logit',
    'probability',
  ),
  index: {
    type: 'integer',
    minimum: 0,
    description: 'Index of the AI-generated class among the numbers per input; 0 if there is only one.',
  },
});

/** The output of a speaker model. */
export const speakerOutputSchema = closedObject({
  name: outputName,
  kind: {
    const: 'embedding',
    description: '256 numbers per input, with any norm: the server normalises them.',
  },
  index: { const: 0, description: 'Always 0.' },
});

/** sigmoid(scale * x + bias) */
export const calibrationSchema = closedObject({
  scale: number('Negative if a high number means a human voice.'),
  bias: number('Shifts the input value that gives 0.5.'),
});

/** Points of [coded bits per second, offset of the log-odds]. */
const codecTable = {
  type: 'array',
  minItems: 1,
  maxItems: 32,
  items: {
    type: 'array',
    minItems: 2,
    maxItems: 2,
    items: [
      { type: 'number', minimum: 1000, maximum: 10_000_000 },
      { type: 'number', minimum: -10, maximum: 10 },
    ],
    additionalItems: false,
  },
} as const;

/** sigmoid(scale * x + bias + offset of the codec) */
export const detectionCalibrationSchema = closedObject(
  {
    ...calibrationSchema.properties,
    codecs: {
      type: 'object',
      propertyNames: { enum: lossyCodecs },
      additionalProperties: codecTable,
      description:
        "Of detectors: offsets for audio that was coded with loss, by libavcodec's name of the codec: up to 32 points of [bits per second, offset], in ascending order of the rate.",
    },
  },
  ['codecs'],
);

const share = (description: string) => ({ type: 'number', minimum: 0, maximum: 1, description }) as const;

/** The limit of uncertain verdicts, and the error rate of the others. */
export const abstentionSchema = closedObject({
  confidence_below: share('A global confidence below this gives the reason `uncertain`.'),
  error_bound: share(
    'With 95 percent confidence, the share of wrong verdicts among those without a reason is at most this: at threshold 0.5, human and AI-generated alike, on pages like those of the calibration part.',
  ),
  verdicts_given: share('The share of verdicts without a reason on the calibration part.'),
});

const clipFile = {
  type: 'string',
  // Never outside the manifest's folder.
  pattern: '^([A-Za-z0-9][A-Za-z0-9._-]*/)*[A-Za-z0-9][A-Za-z0-9._-]*$',
  description: 'Path of an audio file, relative to the manifest.',
} as const;
const tolerances = {
  tolerance: {
    type: 'number',
    exclusiveMinimum: 0,
    description: 'Largest difference of each number, if the default does not suit the model.',
  },
  cuda_tolerance: {
    type: 'number',
    exclusiveMinimum: 0,
    description: 'The same on a GPU, in place of `tolerance`.',
  },
} as const;

/** A detector's known answer for a clip. */
export const detectionAnswerSchema = closedObject(
  {
    file: clipFile,
    scores: {
      type: 'array',
      minItems: 1,
      items: { type: 'number', minimum: 0, maximum: 1 },
      description: 'The scores of its windows, in order.',
    },
    ...tolerances,
  },
  ['tolerance', 'cuda_tolerance'],
);

/** A speaker model's known answer for a clip. */
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

const onnxFile = {
  type: 'string',
  // A plain name: a manifest never refers to files outside its folder.
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*\\.onnx$',
} as const;
const plainName = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' } as const;
const sha256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;

const features = {
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: [waveformSchema, spectrogramSchema],
  description: 'The features of the input: see below.',
} as const;

function modelSchema<
  const Task extends string,
  const Output extends object,
  const Calibration extends object,
  const Answer extends object,
  const Own extends Readonly<Record<string, object>>,
>(task: Task, output: Output, calibration: Calibration, answer: Answer, own: Own) {
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
      file: { ...onnxFile, description: 'The ONNX file in the folder of the manifest.' },
      sha256: {
        ...sha256,
        description: "The file's SHA-256, in lower-case hexadecimal; `veravox models record` writes it.",
      },
      weights_file: {
        ...plainName,
        description:
          'The file beside it with its weights, if they are not inside; `veravox models record` writes it.',
      },
      weights_sha256: {
        ...sha256,
        description: 'The SHA-256 of that file; `veravox models record` writes it.',
      },
      gpu: {
        ...closedObject(
          {
            file: {
              ...onnxFile,
              description: 'The ONNX file in the folder of the manifest, with its weights inside.',
            },
            sha256: { ...sha256, description: 'Its SHA-256; `veravox models record` writes it.' },
            source_sha256: { ...sha256, description: 'The SHA-256 of the `file` that it was made from.' },
            known_answers: {
              type: 'array',
              items: answer,
              description: 'Its known answers for some clips, written by `veravox models record` on a CPU.',
            },
          },
          ['known_answers'],
        ),
        description:
          'A twin that GPUs run in place of `file`, for models in 8 bits, which GPUs do not have; training/export/gpu_twins.py makes it.',
      },
      licence: text('The licence of the weights.'),
      sample_rate_hz: {
        const: SAMPLE_RATE_HZ,
        description: `Rate to which audio is resampled: ${SAMPLE_RATE_HZ}.`,
      },
      window_samples: positiveInteger('Samples per model input.'),
      hop_samples: positiveInteger(
        'Samples between the inputs of one 5 s window, if `window_samples` is shorter. The last input slides back to end with the window. Each input gives one of the `scores`.',
      ),
      short_window: oneOf(
        'How audio shorter than `window_samples` is extended: by repetition, or with zeros. `repeat_sound` first trims everything before the first and after the last sample within 60 dB of the loudest, also in full windows.',
        'repeat',
        'repeat_sound',
        'zero_pad',
      ),
      features,
      input: { ...inputSchema, description: 'The input of the ONNX file.' },
      output: { ...output, description: 'The output of the ONNX file.' },
      calibration: {
        ...calibration,
        description:
          'Maps a log-odds x, or the cosine x of two voiceprints, to a number from 0 to 1: sigmoid(scale x + bias). A detector may add an offset by codec.',
      },
      operating_point: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        description:
          'The calibrated number from which the answer is yes: one speaker, or, for a detector, a voice that voice identity ' +
          'refuses as AI-generated. Predictions have `threshold` instead.',
      },
      ...own,
      known_answers: {
        type: 'array',
        items: answer,
        description: 'Known answers of the model for some clips, written by `veravox models record`.',
      },
      metrics: anyObject('Measured accuracy, for people; any members.'),
      training: anyObject('Origin of the model, for people; any members.'),
    },
    [
      'weights_file',
      'weights_sha256',
      'gpu',
      'known_answers',
      'training',
      ...(Object.keys(own) as (keyof Own & string)[]),
    ],
  );
}

/** The vectors inside a detector, for profiles. */
const vectorsSchema = closedObject(
  {
    outputs: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', minLength: 1 },
      description:
        'Names of the tensors inside the graph that follow each other in a vector; their type is float32.',
    },
    numbers: positiveInteger('Numbers of a vector.'),
    generated: {
      ...plainName,
      description:
        'The file beside it with vectors of AI-generated speech, each followed by its log-odds: one signed byte per number, to be multiplied by `step`.',
    },
    generated_sha256: { ...sha256, description: 'The SHA-256 of that file.' },
    step: number('The value of 1 in that file.'),
    calibration: {
      ...calibrationSchema,
      description: 'The calibration of these log-odds, if the detector has another by now.',
    },
  },
  ['calibration'],
);

/** An entry of a detector. */
export const detectionSchema = modelSchema(
  'detection',
  detectionOutputSchema,
  detectionCalibrationSchema,
  detectionAnswerSchema,
  {
    abstention: {
      ...abstentionSchema,
      description:
        'When a verdict is uncertain, written by training/judge/abstention.py. Without it, a confidence below 0.2 is.',
    },
    vectors: {
      ...vectorsSchema,
      description:
        'Vectors inside the network, which profiles correct scores by. Without it, there are no profiles.',
    },
  },
);

/** An entry of a speaker model. */
export const speakerSchema = modelSchema(
  'speaker',
  speakerOutputSchema,
  calibrationSchema,
  speakerAnswerSchema,
  {
    strangers: {
      ...closedObject({
        mean: { type: 'number', description: 'Mean of artanh(cosine).' },
        sd: { type: 'number', exclusiveMinimum: 0, description: 'Standard deviation of artanh(cosine).' },
      }),
      description:
        'Cosines of strangers, as a normal distribution of artanh(cosine). Without it, identify does not say what a stranger would reach.',
    },
  },
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
      oneOf: [detectionSchema, speakerSchema],
    },
  },
});
