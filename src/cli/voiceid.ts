// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError } from 'commander';
import pc from 'picocolors';
import {
  enrollmentBody,
  isAiGenerated,
  joinedEnrollmentBody,
  requireAuthentic,
  requireOwn,
  verificationBody,
} from '../analysis/voiceid/answers.js';
import { joinSamples } from '../analysis/voiceid/joined-samples.js';
import { mostSuspicious, readSamples, voicesIn } from '../analysis/voiceid/read-samples.js';
import type { Comparison } from '../analysis/voiceid/speaker.js';
import { parseVoiceVector } from '../analysis/voiceid/voice-vector.js';
import { enrollNeeds, MAX_LISTED_ID_BYTES, MAX_SAMPLES, verifyNeeds } from '../base/contract/limits.js';
import type { SampleEnrollment } from '../base/contract/voice-samples.js';
import { readNamed } from '../base/errors/read-named.js';
import { joined, type Shown, shown, styled } from '../base/errors/shown-text.js';
import { exitCodes } from './exit-codes.js';
import { addIdentifyCommand } from './identify.js';
import { type LocalVoices, withVoices } from './local-voices.js';
import { print, printJson, tell } from './output.js';
import { bar } from './prediction-table.js';

interface JsonOption {
  readonly json?: true;
}

interface EnrollOptions extends JsonOption {
  readonly id?: string;
}

interface VerifyOptions extends JsonOption {
  readonly vector: string;
}

export function addVoiceidCommands(program: Command): void {
  program
    .command('enroll')
    .argument('<file...>', `the recording, or - for standard input; up to ${MAX_SAMPLES} of the same voice`)
    .description('Print the voiceprint of a voice, as a JSON array for `verify`.')
    .option('--id <id>', 'id of the speaker: prints a line for the list of `identify`', anyId)
    .option('--json', 'print the answer of the server')
    .action(enroll);
  program
    .command('verify')
    .argument('<file>', 'the recording, or - for standard input')
    .description('Compare a voice with a voiceprint.')
    .requiredOption(
      '--vector <file>',
      'file with the output of `enroll`, or with base64 of its float32 values',
    )
    .option('--json', 'print the answer of the server')
    .action(verify);
  addIdentifyCommand(program);
}

async function enroll(files: readonly string[], options: EnrollOptions, command: Command): Promise<void> {
  if (files.length > MAX_SAMPLES) {
    command.error(`error: Expected at most ${MAX_SAMPLES} recordings but received ${files.length}.`);
  }
  const [file, ...others] = files;
  await withVoices(files, options, async (voices) => {
    const body =
      file !== undefined && others.length === 0 ? await enrollOne(file, voices) : await join(files, voices);
    const { id, json } = options;
    const listed = { id, ...(json ? body : { embedding: body.embedding }) };
    printJson(id === undefined && !json ? body.embedding : listed);
  });
}

function anyId(text: string): string {
  const bytes = Buffer.byteLength(JSON.stringify(text)) - '""'.length;
  if (bytes >= 1 && bytes <= MAX_LISTED_ID_BYTES) return text;
  throw new InvalidArgumentError(`Expected 1 to ${MAX_LISTED_ID_BYTES} bytes but received ${bytes}.`);
}

async function enrollOne(file: string, { config, speaker, read, elapsedS }: LocalVoices) {
  const policy = config.enrollAuthenticity;
  const sample = await read(file, enrollNeeds, policy !== 'skip');
  if (policy === 'reject') requireAuthentic(sample);
  else if (isAiGenerated(sample)) tell(shown`${file}: The voice is AI-generated.\n`);
  return enrollmentBody(sample, speaker, elapsedS());
}

async function join(files: readonly string[], { config, speaker, read, elapsedS }: LocalVoices) {
  const policy = config.enrollAuthenticity;
  const samples = await readSamples(files, (file, needs) => read(file, needs, policy !== 'skip'));
  const voices = voicesIn(samples);
  const worst = mostSuspicious(voices);
  if (policy === 'reject' && worst !== undefined && voices.every(isAiGenerated)) requireAuthentic(worst);
  const body = joinedEnrollmentBody(joinSamples(samples, speaker, policy === 'reject'), speaker, elapsedS());
  tell(feedbackOn(files, body));
  return body;
}

/** The worth of each sample: on standard error, beside the voiceprint. */
function feedbackOn(files: readonly string[], { samples, quality }: SampleEnrollment): Shown {
  const lines = samples.map(({ index, accepted, reason, speech, agreement }) => {
    const facts = [
      speech === null ? '' : `${speech.toFixed(1)} s of speech`,
      agreement === null ? '' : `agreement ${agreement.toFixed(2)}`,
    ].filter((fact) => fact !== '');
    const verdict = accepted
      ? styled(pc.green, 'accepted')
      : styled(pc.red, `left out: ${reason?.replaceAll('_', ' ')}`);
    return shown`${files[index] ?? ''}: ${joined([verdict, ...facts], ', ')}\n`;
  });
  const short = quality.shortcomings.map((name) => name.replaceAll('_', ' ')).join(', ');
  return shown`${joined(lines)}Quality: ${quality.rating}${short === '' ? '' : ` (${short})`}\n`;
}

async function verify(file: string, options: VerifyOptions): Promise<void> {
  await withVoices([file], options, async (voice) => {
    const enrolled = parseVoiceVector(await readVectorFile(options.vector));
    requireOwn(enrolled, voice.speaker);
    const sample = await voice.read(file, verifyNeeds, true);
    requireAuthentic(sample);
    const comparison = voice.speaker.compare(sample.voiceprint, enrolled);
    const body = verificationBody(comparison, voice.speaker, voice.elapsedS());
    if (options.json) printJson(body);
    else print(verificationLine(file, body, comparison));
    if (!body.is_match) process.exitCode = exitCodes.otherSpeaker;
  });
}

/** The text of a voice vector: the file's own, or its `embedding` if the file is an answer of enroll. */
async function readVectorFile(path: string): Promise<string> {
  const text = (await readNamed(path)).toString();
  if (!text.trimStart().startsWith('{')) return text;
  try {
    const { embedding } = JSON.parse(text) as { embedding?: unknown };
    return JSON.stringify(embedding) ?? '';
  } catch {
    return text;
  }
}

function verificationLine(
  file: string,
  { is_match: isMatch, model_version: model }: ReturnType<typeof verificationBody>,
  { similarity, cosine }: Comparison,
): Shown {
  const colour = isMatch ? pc.green : pc.red;
  const verdict = isMatch ? 'the same speaker' : 'another speaker';
  const numbers = shown`${similarity.toFixed(3)}  ${styled(colour, verdict)}  (cosine ${cosine.toFixed(3)}, ${model})`;
  return shown`${file}  ${styled(colour, bar(similarity))}  ${numbers}\n`;
}
