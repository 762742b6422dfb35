// SPDX-License-Identifier: Apache-2.0
//
// Who may import what. `npm run lint` checks it; type-only imports count.

/** The files of these wings: the folders of src. */
const wings = (...names) => `^src/(?:${names.join('|')})/`;
/** The files of these rooms: the folders of a wing. */
const rooms = (...names) => `^src/[^/]+/(?:${names.join('|')})/`;
const packages = (...names) => `^(?:node_modules/)?(?:${names.join('|')})(?:/|$)`;

/** An error: nothing `from` may import what `to` matches. */
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** What a wing may import of src; itself always. */
const wingImports = (wing, others, comment) =>
  rule(`${wing}-wing`, comment, { path: wings(wing) }, { path: '^src/', pathNot: [wings(wing, ...others)] });

/** What a room may import of src; itself always. */
const onlyImports = (room, others, comment) =>
  rule(
    `${room}-imports`,
    comment,
    { path: rooms(room) },
    { path: ['^src/'], pathNot: [rooms(room, ...others)] },
  );

const own = { pathNot: '^src/' };

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    rule('no-circle-of-files', 'Files import each other one way.', {}, { circular: true }),
    {
      ...rule('no-circle-of-folders', 'So do folders.', { path: '^src/' }, { circular: true }),
      scope: 'folder',
    },

    wingImports('base', [], 'Everybody may import base.'),
    wingImports('state', ['base'], 'What outlives a request knows nothing of requests.'),
    wingImports('analysis', ['base', 'state'], 'From bytes to verdict, whoever asks.'),
    wingImports('api', ['base', 'state', 'analysis'], 'What a client sees.'),
    wingImports('evaluation', ['base', 'state', 'analysis'], 'Figures need no server.'),
    wingImports('jobs', ['base', 'state', 'analysis', 'api'], 'Requests are answered without jobs.'),
    wingImports(
      'console',
      ['base', 'state', 'analysis', 'api', 'jobs'],
      'A server can be read and run without its console.',
    ),
    wingImports(
      'service',
      ['base', 'state', 'analysis', 'api', 'jobs', 'console'],
      'One place says what a server is made of.',
    ),
    // cli imports any wing; the rules above keep all from importing cli.

    rule(
      'uws-in-http',
      'One file chooses among the versions of uWebSockets.js.',
      { pathNot: [`${rooms('http')}uws\\.ts$`] },
      { path: packages('uWebSockets\\.js[^/]*', '@uwsjs') },
    ),
    rule(
      'one-onnxruntime',
      'The module that loads onnxruntime-node turns its telemetry off first.',
      { pathNot: [`${rooms('scoring')}onnxruntime\\.ts$`] },
      { path: packages('onnxruntime-node') },
    ),
    rule(
      'pools-of-threads',
      'Two pools, each with its own room.',
      { path: '^src/', pathNot: [rooms('prepare', 'scoring')] },
      { path: packages('piscina') },
    ),
    rule(
      'databases-behind-their-door',
      'Everybody else uses the interface of src/state/database.',
      { path: '^src/', pathNot: [rooms('database')] },
      { path: packages('libsql', 'pg') },
    ),
    rule(
      'opentelemetry-when-asked',
      'Loaded if a collector is configured; everybody else knows the interface.',
      { path: '^src/', pathNot: [rooms('tracing')] },
      { path: packages('@opentelemetry') },
    ),
    rule(
      'openid-when-asked',
      'Loaded when somebody signs in with a provider.',
      { path: '^src/', pathNot: ['^src/console/routes/oidc-provider\\.ts$'] },
      { path: packages('openid-client') },
    ),
    rule(
      'csv-of-lists',
      'Lists are read in one place.',
      { path: '^src/', pathNot: [rooms('figures', 'batches')] },
      { path: packages('csv-parse') },
    ),

    rule(
      'http-below-service',
      'HTTP is put together in src/service; commands look at its parts only.',
      { path: '^src/', pathNot: [rooms('http'), wings('service', 'cli')] },
      { path: rooms('http') },
    ),
    rule(
      'http-knows-no-route',
      'Of routes, http knows the interface.',
      { path: rooms('http') },
      { path: rooms('routes'), pathNot: [`${rooms('routes')}route\\.ts$`] },
    ),
    rule(
      'pipeline-asks-nobody',
      'The pipeline is asked for known answers; it does not ask itself.',
      { path: rooms('pipeline', 'prepare', 'scoring') },
      { path: rooms('known-answers') },
    ),
    rule(
      'scoring-without-prepare',
      'Inputs pass from prepare to scoring through src/analysis/memory.',
      { path: rooms('scoring') },
      { path: rooms('prepare') },
    ),
    rule(
      'prepare-without-scoring',
      'The pipeline connects them.',
      { path: rooms('prepare') },
      { path: rooms('scoring') },
    ),
    rule(
      'no-tests-in-src',
      'What runs knows nothing of tests, benchmarks and scripts.',
      { path: '^src/' },
      { path: '^(?:test|bench|scripts)/' },
    ),

    onlyImports('config', ['contract', 'errors'], 'Everybody imports config.'),
    onlyImports('errors', [], 'Everybody imports errors.'),
    onlyImports('observe', ['config', 'errors', 'tracing'], 'Everybody imports observe.'),
    onlyImports('tracing', [], 'Everybody imports tracing.'),
    onlyImports(
      'verdict',
      ['analyser', 'contract', 'errors', 'stretches'],
      'A verdict is a pure function of an analysis.',
    ),
    onlyImports('stretches', ['analyser'], 'Stretches are a pure function of scores.'),
    rule(
      'figures-imports',
      'Figures are pure functions of scores.',
      { path: rooms('figures') },
      { path: ['^src/'], pathNot: [rooms('figures'), '^src/base/proportion\\.ts$'] },
    ),
    rule(
      'contract-is-data',
      'The contract is data: it imports the errors that it names.',
      { path: rooms('contract') },
      { pathNot: [rooms('contract', 'errors'), packages('json-schema-to-ts'), '^(?:node:)?crypto$'] },
    ),
    rule(
      'client-alone',
      'The client runs elsewhere, without dependencies.',
      { path: '^client/src/' },
      { pathNot: ['^client/src/'] },
    ),
    rule(
      'pure-without-packages',
      'Pure functions need no package and nothing of Node.',
      { path: rooms('verdict') },
      own,
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // The compiler of TypeScript 7 has no interface for programs.
    parser: 'swc',
    tsPreCompilationDeps: true,
    exclude: { path: '^(?:build|dist|client/dist)/' },
  },
};
