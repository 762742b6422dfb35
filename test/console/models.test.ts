// SPDX-License-Identifier: Apache-2.0
//
// Information for operators on the served models: the shipped ones, and folders with little or wrong information.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { AdminClient, VeravoxError } from '../../client/src/index.js';
import type { CheckedStatus } from '../../src/analysis/known-answers/checked-models.js';
import type { AnswerCheck } from '../../src/analysis/known-answers/known-answers.js';
import { readManifest } from '../../src/analysis/models/manifest.js';
import { modelStatus } from '../../src/analysis/pipeline/model-status.js';
import { UNCERTAIN_BELOW_CONFIDENCE } from '../../src/analysis/verdict/reasons.js';
import { packageDir } from '../../src/base/config/package-dir.js';
import type { AdminAnalysisFacts } from '../../src/console/contract/analysis-facts.js';
import type { AdminModel, AdminModelList } from '../../src/console/contract/models.js';
import { modelRoutes } from '../../src/console/routes/model-routes.js';
import { OperatingPoints } from '../../src/state/operating-points/operating-points.js';
import { ADMIN, adminCaller } from '../support/admin-caller.js';
import { someSpeakerModel } from '../support/analyser-double.js';
import { startJobServer } from '../support/job-server.js';
import { documentOf, validatorOf } from '../support/openapi.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ADMIN_API_KEY } from '../support/test-server.js';

const shipped = path.join(packageDir, 'models');

/** Like a server that has loaded the models of `loadedDir`. */
async function served(
  modelsDir: string,
  wrongAnswers: readonly AnswerCheck[] = [],
  points = OperatingPoints.of([]),
  loadedDir = shipped,
) {
  const { models } = await readManifest(loadedDir);
  const status: CheckedStatus = { ...modelStatus(models), ready: true, provider: 'cpu', wrongAnswers };
  const call = adminCaller((guard) =>
    modelRoutes(guard, { config: { modelsDir, maxPredictBytes: 123_456 }, status: () => status, points }),
  );
  const list = async () => (await call(ADMIN, 'GET', '/v1/admin/models')).json as AdminModelList;
  const card = (id: string) => call(ADMIN, 'GET', `/v1/admin/models/${id}/card`);
  const facts = async () => (await call(ADMIN, 'GET', '/v1/admin/analysis-facts')).json as AdminAnalysisFacts;
  return { call, list, card, facts, status };
}

/** A folder with the shipped manifest and figures, for damage. */
function copied(t: TestContext, changed: (id: string, text: string) => string | undefined): string {
  const folder = temporaryFolder(t);
  for (const name of fs.readdirSync(shipped).filter((file) => file.endsWith('.json'))) {
    const text = changed(name, fs.readFileSync(path.join(shipped, name), 'utf8'));
    if (text !== undefined) fs.writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

const nothingKnown: AdminModel['figures'] = {
  measured_on: null,
  human_clips: null,
  generated_clips: null,
  eer: null,
  auc: null,
  eer_groups_alike: null,
  thresholds: null,
  det: null,
  verification: null,
};

test('a folder that has changed, is damaged or has gone says nothing of the models in use', async (t) => {
  const gone = await (await served(temporaryFolder(t))).list();
  const broken = await (await served(copied(t, (_, text) => text.slice(0, 100)))).list();
  const others = await (
    await served(
      copied(t, (name, text) =>
        // Other calibrations, so other scores.
        name === 'manifest.json' ? text.replaceAll('"bias": ', '"bias": 1') : text,
      ),
    )
  ).list();
  for (const { models } of [gone, broken, others]) {
    assert.equal(models.length, 4);
    for (const { figures, calibration, licence, file, known_answers, has_card } of models) {
      assert.deepEqual(
        [calibration, licence, file.name, file.bytes, known_answers],
        [null, null, null, null, []],
      );
      assert.equal(has_card, false);
      // Figures come from the files of the models in use, whatever the manifest says.
      const { thresholds, det, human_clips, generated_clips, ...rest } = figures;
      assert.deepEqual({ ...nothingKnown, ...rest }, nothingKnown);
      const isKnown = models === others.models && figures.thresholds !== null;
      if (!isKnown)
        assert.deepEqual([thresholds, det, human_clips, generated_clips], [null, null, null, null]);
    }
  }
  for (const damage of [
    (text: string) => text.replace(/"score_fingerprint": "./, '"score_fingerprint": "x'),
    (text: string) => text.replace('"version": 1', '"version": 2'),
    (text: string) => text.replace(/"threshold": [\d.]+/, '"threshold": "<script>"'),
    () => undefined,
  ]) {
    const folder = copied(t, (name, text) => (name === 'manifest.json' ? text : damage(text)));
    for (const { figures, task } of (await (await served(folder)).list()).models) {
      assert.deepEqual([figures.thresholds, figures.det], [null, null]);
      assert.equal(figures.eer !== null, task === 'detection', 'the manifest has it');
    }
  }
});

test('those who ask for the models at once share one reading of them and its text', async () => {
  const { call } = await served(shipped);
  const answers = await Promise.all([1, 2, 3].map(() => call(ADMIN, 'GET', '/v1/admin/models')));
  assert.equal(new Set(answers.map(({ reply }) => reply?.body)).size, 1);
  assert.equal(answers[0]?.json.models.length, 4);
});

test('a calibration with tables by codec is told by its scale and bias', async (t) => {
  const folder = copied(t, (name, text) => {
    if (name !== 'manifest.json') return text;
    const manifest = JSON.parse(text);
    manifest.models[0].calibration = { scale: 1.5, bias: -0.25, codecs: { opus: [[64_000, -1]] } };
    return JSON.stringify(manifest);
  });
  const [first] = (await (await served(folder, [], OperatingPoints.of([]), folder)).list()).models;
  assert.deepEqual(first?.calibration, { scale: 1.5, bias: -0.25 });
});

test('a card is shown of served models only', async (t) => {
  const folder = temporaryFolder(t);
  fs.writeFileSync(path.join(folder, 'secret.md'), 'not a card');
  const { card } = await served(folder);
  for (const id of ['secret', '..%2Fsecret', '%2Fetc%2Fpasswd', 'detector-large-2026-11-25', '%00', '']) {
    const answer = await card(id);
    assert.deepEqual([answer.status, answer.key], [404, 'CARD_NOT_FOUND'], id);
  }
  const { reply } = await (await served(shipped)).card('detector-large-2026-11-25');
  assert.equal(reply?.contentType, 'text/markdown; charset=utf-8');
  assert.match(String(reply?.body), /^# detector-large-2026-11-25\n/);
});

/** The rows of the table of thresholds in a card, in percent. */
function cardThresholds(id: string): { threshold: string; fpr: number[]; fnr: number[] }[] {
  const card = fs.readFileSync(path.join(shipped, `${id}.md`), 'utf8');
  const [, section = ''] = card.split('### Thresholds');
  return (
    section
      .split('###')[0]
      ?.split('\n')
      .flatMap((line) => {
        const [, threshold, fpr = '', fnr = ''] =
          /^\| (\d\.\d\d)[^|]*\| ([^|]*) \| ([^|]*) \|$/.exec(line) ?? [];
        const percents = (cell: string) => [...cell.matchAll(/([\d.]+) %/g)].map(([, text]) => Number(text));
        return threshold === undefined ? [] : [{ threshold, fpr: percents(fpr), fnr: percents(fnr) }];
      }) ?? []
  );
}

test('the figures of the shipped detectors are those of their cards', async () => {
  const { models } = await (await served(shipped)).list();
  const detectors = models.filter(({ task }) => task === 'detection');
  assert.equal(detectors.length, 3);
  for (const { id, figures, file, known_answers, abstention, window_s } of detectors) {
    const { thresholds, det, eer, auc } = figures;
    assert.ok(thresholds && det && eer?.interval_95 && auc?.interval_95 && abstention);
    assert.deepEqual([figures.human_clips, figures.generated_clips, window_s], [1833, 1850, 5]);
    assert.equal(file.bytes, fs.statSync(path.join(shipped, `${id}.onnx`)).size);
    assert.equal(known_answers.length, 4);
    const rows = cardThresholds(id);
    assert.equal(rows.length, 9);
    for (const row of rows) {
      // Two decimals name a threshold twice, such as 0.90 and the one for 2 % of human clips.
      const matches = thresholds.some(({ threshold, fpr, fnr }) => {
        const percents = ({ value, interval_95 }: typeof fpr) =>
          [value, ...(interval_95 ?? [])].map((share) => Number((100 * share).toFixed(1)));
        const near = (a: number[], b: number[]) => a.every((x, i) => Math.abs(x - (b[i] ?? 0)) < 0.11);
        return (
          threshold.toFixed(2) === row.threshold &&
          near(percents(fpr), row.fpr) &&
          near(percents(fnr), row.fnr)
        );
      });
      assert.ok(matches, `${id}: ${JSON.stringify(row)}`);
    }
    // The curve falls, and passes through every row of the table and the equal error rate.
    det.slice(1).forEach(({ fpr, fnr }, i) => {
      const before = det[i];
      assert.ok(before && fpr <= before.fpr && fnr >= before.fnr, `${id}: point ${i + 1}`);
    });
    const fnrAt = (fpr: number): [number, number] => [
      Math.max(0, ...det.filter((point) => point.fpr > fpr + 5e-4).map((point) => point.fnr)),
      Math.min(1, ...det.filter((point) => point.fpr < fpr - 5e-4).map((point) => point.fnr)),
    ];
    for (const { fpr, fnr } of [...thresholds, { fpr: eer, fnr: eer }]) {
      const [least, most] = fnrAt(fpr.value);
      assert.ok(fnr.value >= least - 2e-3 && fnr.value <= most + 2e-3, `${id}: ${fpr.value}, ${fnr.value}`);
    }
  }
});

test('a speaker model has its errors by the speech that is compared', async () => {
  const { models } = await (await served(shipped)).list();
  const speaker = models.find(({ task }) => task === 'speaker') ?? assert.fail();
  const rows = speaker.figures.verification ?? assert.fail();
  assert.deepEqual([speaker.figures.det, speaker.figures.eer, speaker.abstention], [null, null, null]);
  const first = rows[0] ?? assert.fail();
  assert.deepEqual([first.condition, first.test_speech_s, first.eer.value], ['as recorded', 1, 0.077]);
  assert.deepEqual(first.false_accepts, { value: 0.0071, interval_95: [0.0024, 0.0161] });
});

test('wrong answers and named thresholds are told with their model', async () => {
  const { models: entries } = await readManifest(shipped);
  const id = 'detector-small-2026-11-25';
  const { file = '' } = entries.find((model) => model.id === id)?.known_answers?.[0] ?? {};
  const wrong = { modelId: id, file, expected: [0.5], measured: [0.9], tolerance: 0.01 };
  const { status } = await served(shipped);
  const detector = status.detectors.find((model) => model.id === id) ?? assert.fail();
  const point = {
    ...{ name: 'strict', model: detector.aliases[0] ?? '', threshold: 0.9 },
    ...{ fingerprint: detector.scoreFingerprint, model_sha256: detector.sha256 },
  };
  const points = OperatingPoints.of([
    point as never,
    { ...point, name: 'old', fingerprint: 'f'.repeat(64) } as never,
  ]);
  const { models } = await (await served(shipped, [wrong], points)).list();
  const found = models.find((model) => model.id === id) ?? assert.fail();
  assert.deepEqual(
    found.known_answers.map(({ holds }) => holds),
    [false, null, null, null],
  );
  assert.deepEqual(found.operating_points, [
    { name: 'strict', threshold: 0.9, usable: true },
    { name: 'old', threshold: 0.9, usable: false },
  ]);
  const other = models.find((model) => model.id === 'detector-large-2026-11-25');
  assert.deepEqual([other?.known_answers[0]?.holds, other?.operating_points], [true, []]);
});

test('over HTTP the list is as it is documented', async (t) => {
  const { origin } = await startJobServer(t, { modelsDir: shipped });
  const admin = new AdminClient({ baseUrl: origin, apiKey: ADMIN_API_KEY });
  const list = await admin.listModels();
  // The analyses are doubles, whose models are not in a manifest.
  assert.deepEqual(
    list.models.map(({ id, licence }) => [id, licence]),
    ['apollo-4-5-2026-03-26', 'apollo-4-2026-01-16', 'apollo-4-2025-10-20', someSpeakerModel.id].map((id) => [
      id,
      null,
    ]),
  );
  const document = await documentOf(origin);
  const { content = {} } = document.paths['/v1/admin/models']?.get?.responses[200] ?? {};
  const schema = content['application/json']?.schema ?? assert.fail();
  const check = validatorOf(document);
  check(schema, list, 'the doubles');
  check(schema, await (await served(shipped)).list(), 'the shipped models');
  await assert.rejects(
    admin.getModelCard('../manifest.json'),
    (error) => error instanceof VeravoxError && error.status === 404,
  );
});

test('a page for requests learns in short what it may ask for', async (t) => {
  const { facts, list } = await served(shipped);
  const answer = await facts();
  assert.equal(answer.max_file_bytes, 123_456);
  assert.deepEqual([answer.threshold, answer.silence_threshold], [0.5, 80]);
  assert.equal(answer.default_model, 'apollo-4-5-2026-03-26');
  assert.ok(answer.model_names.includes('apollo-4-2026-01-16'));
  const detectors = (await list()).models.filter(({ task }) => task === 'detection');
  assert.deepEqual(
    answer.detectors.map(({ id, uncertain_below }) => [id, uncertain_below]),
    detectors.map(({ id, abstention }) => [id, abstention?.confidence_below ?? UNCERTAIN_BELOW_CONFIDENCE]),
  );
  assert.ok(answer.detectors.some(({ uncertain_below }) => uncertain_below !== null));
  // A manifest damaged later says nothing about the served models.
  const damaged = await served(temporaryFolder(t));
  assert.ok((await damaged.facts()).detectors.every(({ uncertain_below }) => uncertain_below === null));
});
