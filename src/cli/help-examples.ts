// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';

/** Examples by command: the line to type, and its purpose. */
const helpExamples: Readonly<Record<string, readonly (readonly [line: string, use: string])[]>> = {
  serve: [
    ['veravox serve --port 9000', 'on another port, for this machine only'],
    ['veravox serve --host 0.0.0.0', 'reachable from the network'],
    ['node --env-file=veravox.env dist/cli/main.js serve', 'with settings from a file'],
  ],
  work: [
    [
      'VERAVOX_JOB_WORKERS=4 veravox work',
      'four jobs at once, with the database and the bucket of the servers',
    ],
  ],
  'keys create': [
    ['key=$(veravox keys create --name shop)', 'a key in a variable; the rest goes to the terminal'],
    [
      'veravox keys create --name trial --expires-in 30d --rate 100/1m',
      'with an expiry time and a rate limit',
    ],
  ],
  'keys list': [['veravox keys list --json', 'for programs']],
  'keys revoke': [['veravox keys revoke 0123456789ab', 'by the id that keys list shows']],
  'admin users': [['veravox admin users --json', 'for programs']],
  'admin add': [['veravox admin add ada --role developer --account shop', 'prints a link for them']],
  'admin link': [
    ['veravox admin link', 'for the first user'],
    ['veravox admin link ada', 'for somebody who has forgotten the password'],
  ],
  'admin password': [['veravox admin password ada', 'asks for it']],
  'admin change': [['veravox admin change ada --role viewer', 'another role']],
  'admin disable': [['veravox admin disable ada', 'also ends the sessions']],
  'admin enable': [['veravox admin enable ada', 'after disable']],
  'admin revoke-sessions': [['veravox admin revoke-sessions ada', 'on all hosts, within a second']],
  'webhooks create-secret': [
    [
      'veravox webhooks create-secret --account shop --overlap 7d',
      'a new secret; earlier ones sign for a week more',
    ],
  ],
  'webhooks secrets': [['veravox webhooks secrets', 'which accounts have secrets, and until when']],
  'webhooks revoke-secret': [
    ['veravox webhooks revoke-secret whs_0123456789ab', 'at once, without an overlap'],
  ],
  'webhooks deliveries': [['veravox webhooks deliveries --state failed', 'failed deliveries']],
  'webhooks replay': [
    ['veravox webhooks replay 0b5c2f6e-8f0e-4c55-9d4f-2f1d5a3c7e90', 'by the id of a delivery or of its job'],
    ['veravox webhooks replay --failed', 'all that failed'],
  ],
  'database copy': [
    ['veravox database copy --dry-run', 'what would be copied'],
    ['VERAVOX_DATABASE_URL=postgres://veravox@db.example/veravox veravox database copy', 'from SQLite'],
  ],
  backup: [['veravox backup /backups/veravox-2026-12-31', 'a new folder, while the server runs']],
  restore: [['VERAVOX_DATA_DIR=/srv/veravox veravox restore /backups/veravox-2026-12-31', 'on any machine']],
  predict: [
    ['veravox predict call.wav', 'one file'],
    ['veravox predict recordings', 'all audio and video files of a folder and its subfolders'],
    ["veravox predict --json 'calls/**/*.mp3' > answers.jsonl", 'a pattern; one line of JSON per file'],
    ['veravox predict call.wav --channels separate --start 30 --end 90', 'both sides, one minute'],
    ['veravox predict upload.wav --fail-on spoofed', 'exit code 4 for an AI-generated voice'],
    ['ffmpeg -i in.mp4 -vn -f wav - | veravox predict -', 'standard input'],
    ['veravox predict recordings --html timelines', 'a page per file, with waveform and scores over time'],
  ],
  'audit verify': [['veravox audit verify', 'exit code 1 if a line is missing or changed']],
  usage: [
    ['veravox usage --from yesterday', 'yesterday and today'],
    ['veravox usage --from 2026-11-01 --to 2026-11-30 --account acme --json', 'a month of one account'],
  ],
  enroll: [
    ['veravox enroll me.wav > me.json', 'a voiceprint to keep'],
    ['veravox enroll monday.wav tuesday.wav friday.wav > me.json', 'one of several samples, which is better'],
    ['veravox enroll --id anna anna.wav >> voices.jsonl', 'a line of a list for identify'],
  ],
  identify: [
    ['veravox identify call.wav --voiceprints voices.jsonl --top 3', 'exit code 3 for nobody of the list'],
  ],
  verify: [
    ['veravox verify call.wav --vector me.json', 'exit code 3 for another speaker'],
    ['curl -s https://example.org/a.mp3 | veravox verify - --vector me.json', 'standard input'],
  ],
  evaluate: [
    ['veravox evaluate clips.csv --html report.html', 'with columns path and label'],
    ['veravox evaluate clips.csv --where split=test --group-by language', 'some rows, in groups'],
  ],
  calibrate: [
    ['veravox calibrate clips.csv --target-fpr 0.01 --name strict', 'at most 1 % of human clips flagged'],
  ],
  'profiles make': [
    ['veravox profiles make studio recordings', 'ten or more genuine recordings, in a folder'],
    ['veravox profiles make studio recordings --generated fakes', 'and AI-generated ones that must not pass'],
  ],
  'profiles list': [['veravox profiles list --json', 'for programs']],
  'profiles show': [['veravox profiles show studio', 'its recordings, gain and cost']],
  'profiles use': [['veravox profiles use studio 1', 'the first version again']],
  'profiles remove': [['veravox profiles remove studio', 'requests with its name are then refused']],
  'models list': [['veravox models list', 'the models in the manifest']],
  'models check': [['veravox models check --models-dir my-models', 'before a server loads them']],
  'models import': [
    [
      'veravox models import xlsr-aasist best_SSL_model_LA.pth --models-dir my-models --python venv/bin/python',
      'a published checkpoint, with a Python that has torch and onnx',
    ],
  ],
  'models calibrate': [
    ['veravox models calibrate my-model clips.csv --dry-run', 'what would change'],
    [
      'veravox models calibrate my-model clips.csv --models-dir my-models --where split=calibration',
      'on some of the rows',
    ],
  ],
  'models record': [['veravox models record my-model --models-dir my-models', 'after a new export']],
  bench: [
    ['veravox keys create | veravox bench http://127.0.0.1:8080 --key-file -', 'a server on this machine'],
    [
      'veravox bench https://voice.example --key-file key calls/*.mp3 --connections 8,32',
      'another one, with recordings of your own',
    ],
  ],
  openapi: [['veravox openapi > openapi.json', 'for client generators']],
  doctor: [['veravox doctor', 'what works, what is missing, what is wrong']],
};

/** Adds the examples to the help of each command. */
export function addHelpExamples(command: Command, names: readonly string[] = []): void {
  const found = helpExamples[names.join(' ')] ?? [];
  if (found.length > 0) {
    const lines = found.map(([line, use]) => `  ${line}\n      ${use}`);
    command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  }
  for (const child of command.commands) addHelpExamples(child, [...names, child.name()]);
}
