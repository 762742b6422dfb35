// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import pc from 'picocolors';
import { requireAuthentic } from '../analysis/voiceid/answers.js';
import { identificationBody } from '../analysis/voiceid/identification.js';
import { VoiceprintList } from '../analysis/voiceid/voiceprint-list.js';
import type { Identification } from '../base/contract/identification.js';
import { MAX_MATCHES, verifyNeeds } from '../base/contract/limits.js';
import { identifyFieldSchemas } from '../base/contract/voice-fields.js';
import { readNamed } from '../base/errors/read-named.js';
import { type Shown, shown, styled } from '../base/errors/shown-text.js';
import { numberThat, within } from './arguments.js';
import { exitCodes } from './exit-codes.js';
import { withVoices } from './local-voices.js';
import { print, printJson } from './output.js';
import { textTable } from './text-table.js';

interface IdentifyOptions {
  readonly voiceprints: string;
  readonly top: number;
  readonly prior: number;
  readonly json?: true;
}

const { top, prior } = identifyFieldSchemas;
const anyTop = numberThat(
  (value) => Number.isInteger(value) && value >= 1 && value <= MAX_MATCHES,
  `a whole number from 1 to ${MAX_MATCHES}`,
);

export function addIdentifyCommand(program: Command): void {
  program
    .command('identify')
    .argument('<file>', 'the recording, or - for standard input')
    .description('Find a voice in a list of voiceprints.')
    .requiredOption(
      '--voiceprints <file>',
      'lines of `enroll --id`, or a JSON array of objects with an id and an embedding or voice_vector',
    )
    .option('--top <number>', 'number of matches to print', anyTop, top.default)
    .option(
      '--prior <probability>',
      'probability, before the voice is heard, that the speaker is on the list',
      within(0, 1),
      prior.default,
    )
    .option('--json', 'print the answer of the server')
    .action(identify);
}

async function identify(file: string, options: IdentifyOptions): Promise<void> {
  await withVoices([file], options, async ({ speaker, read, elapsedS }) => {
    const list = await VoiceprintList.checked(asArray(await readNamed(options.voiceprints)), speaker);
    const sample = await read(file, verifyNeeds, true);
    requireAuthentic(sample);
    const ranking = await list.rank(sample.voiceprint, options.top);
    const body = identificationBody(ranking, speaker, options.prior, elapsedS());
    if (options.json) printJson(body);
    else print(tableOf(body));
    if (!body.matches.some((match) => match.is_match)) process.exitCode = exitCodes.otherSpeaker;
  });
}

/** Objects on lines of their own become an array. A line break as such never lies inside a JSON text. */
function asArray(file: Buffer): Uint8Array {
  const text = file.toString().trim();
  return text.startsWith('{') ? Buffer.from(`[${text.replaceAll(/\}[ \t\r]*\n\s*\{/g, '},\n{')}]`) : file;
}

function tableOf({ matches, unknown_probability: unknown, compared }: Identification): Shown {
  const rows = matches.map((match) => [
    match.id,
    match.similarity_score.toFixed(3),
    match.probability.toFixed(3),
    match.stranger_probability?.toPrecision(2) ?? '',
    match.is_match ? 'yes' : 'no',
  ]);
  const headings = ['id', '>similarity', '>probability', '>of a stranger', 'match'];
  const found = matches.some((match) => match.is_match);
  const nobody = `${compared} compared; nobody of them: ${unknown.toFixed(3)}`;
  return shown`${textTable(headings, rows)}${styled(found ? pc.green : pc.red, nobody)}\n`;
}
