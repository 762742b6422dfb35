// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import pc from 'picocolors';
import { startPipeline } from '../analysis/pipeline/pipeline.js';
import {
  enrollmentBody,
  isAiGenerated,
  requireAuthentic,
  requireOwn,
  verificationBody,
} from '../analysis/voiceid/answers.js';
import { type Comparison, chooseSpeaker, type Speaker } from '../analysis/voiceid/speaker.js';
import { readVoice, type VoiceSample } from '../analysis/voiceid/voice-sample.js';
import { parseVoiceVector } from '../analysis/voiceid/voice-vector.js';
import { loadConfig } from '../base/config/load-config.js';
import type { Config } from '../base/config/options.js';
import { enrollNeeds, type SampleNeeds, verifyNeeds } from '../base/contract/limits.js';
import { defaultModel } from '../base/contract/model-ids.js';
import { ServiceError } from '../base/errors/service-error.js';
import { maxDurationS, readInto, sizeOf, withoutTimeouts } from '../evaluation/labelled-lists/local-files.js';
import { pointsForThreshold } from '../state/operating-points/load-operating-points.js';
import { reportFailure } from './failed-file.js';
import { bar } from './prediction-table.js';
import { readStandardInput, STANDARD_INPUT } from './standard-input.js';

/** So that a script that relies on the exit code cannot mistake another voice for the right one. */
export const exitCodeOtherSpeaker = 3;

interface JsonOption {
  readonly json?: true;
}

interface VerifyOptions extends JsonOption {
  readonly vector: string;
}

export function addVoiceidCommands(program: Command): void {
  program
    .command('enroll')
    .argument('<file>', 'the recording, or - for standard input')
    .description('Print the voiceprint of a voice, as a JSON array for `verify`.')
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
}

async function enroll(file: string, options: JsonOption): Promise<void> {
  await withVoice(file, options, async (voice) => {
    const policy = voice.config.enrollAuthenticity;
    const sample = await voice.read(enrollNeeds, policy !== 'skip');
    if (policy === 'reject') requireAuthentic(sample);
    else if (isAiGenerated(sample)) process.stderr.write(`${file}: The voice is AI-generated.\n`);
    const body = enrollmentBody(sample, voice.speaker, voice.elapsedS());
    process.stdout.write(`${JSON.stringify(options.json ? body : body.embedding)}\n`);
  });
}

async function verify(file: string, options: VerifyOptions): Promise<void> {
  await withVoice(file, options, async (voice) => {
    const enrolled = parseVoiceVector(await readVectorFile(options.vector));
    requireOwn(enrolled, voice.speaker);
    const sample = await voice.read(verifyNeeds, true);
    requireAuthentic(sample);
    const comparison = voice.speaker.compare(sample.voiceprint, enrolled);
    const body = verificationBody(comparison, voice.speaker, voice.elapsedS());
    process.stdout.write(
      options.json ? `${JSON.stringify(body)}\n` : verificationLine(file, body, comparison),
    );
    if (!body.is_match) process.exitCode = exitCodeOtherSpeaker;
  });
}

interface LocalVoice {
  readonly config: Config;
  readonly speaker: Speaker;
  elapsedS(): number;
  read(needs: SampleNeeds, checksAuthenticity: boolean): Promise<VoiceSample>;
}

/** Starts the pipeline for one file and reports what fails. */
async function withVoice(
  file: string,
  { json }: JsonOption,
  work: (voice: LocalVoice) => Promise<void>,
): Promise<void> {
  const given = file === STANDARD_INPUT ? await readStandardInput() : undefined;
  const size = given?.length ?? (await sizeOf(file));
  const config: Config = { ...loadConfig(process.env), ...withoutTimeouts };
  const arena = new SharedArrayBuffer(typeof size === 'number' ? Math.max(1, size) : 1);
  const analyser = await startPipeline(config, arena);
  try {
    const { detectors, speakerModels } = analyser.status();
    const points = await pointsForThreshold(config, config.matchThreshold);
    const speaker = chooseSpeaker(speakerModels, config, points);
    if (speaker === undefined) throw new ServiceError('NO_SPEAKER_MODEL');
    if (typeof size !== 'number') throw size;
    if (given !== undefined) new Uint8Array(arena).set(given);
    const length = given?.length ?? (await readInto(new Uint8Array(arena), file));
    const startedMs = performance.now();
    await work({
      config,
      speaker,
      elapsedS: () => (performance.now() - startedMs) / 1000,
      read: (needs, checksAuthenticity) =>
        readVoice(analyser, speaker, {
          region: { offset: 0, length },
          detectorId: checksAuthenticity ? defaultModel(detectors) : undefined,
          ...needs,
          maxDurationS,
          signal: new AbortController().signal,
        }),
    });
  } catch (error) {
    reportFailure(file, error, json);
    process.exitCode = 1;
  } finally {
    await analyser.close();
  }
}

/** The text of a voice vector: the file's own, or its `embedding` if the file is an answer of enroll. */
async function readVectorFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
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
): string {
  const colour = isMatch ? pc.green : pc.red;
  const verdict = isMatch ? 'the same speaker' : 'another speaker';
  const numbers = `${similarity.toFixed(3)}  ${colour(verdict)}  (cosine ${cosine.toFixed(3)}, ${model})`;
  return `${file}  ${colour(bar(similarity))}  ${numbers}\n`;
}
