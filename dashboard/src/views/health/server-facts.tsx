// SPDX-License-Identifier: Apache-2.0
import type { HealthHistory, ServerState } from 'veravox-client';
import { bytesInWords } from '../../logic/bytes.js';
import { durationInWords } from '../../logic/duration.js';
import { count } from '../../logic/formats.js';
import { Name } from '../../parts/name.js';
import { State } from '../../parts/state.js';
import { Table } from '../../parts/table.js';

const stateTexts: Readonly<Record<ServerState['state'], string>> = {
  starting: 'starting',
  ready: 'ready',
  wrong_answers: 'not ready: wrong answers',
  storage_unusable: 'not ready: the bucket for files cannot be used',
  not_writable: 'not ready: nothing can be written',
  stopping: 'stopping',
};

const databaseTexts: Readonly<Record<ServerState['database']['state'], string>> = {
  up: 'up',
  unavailable: 'unavailable',
  full: 'full: nothing can be written',
  read_only: 'read-only: nothing can be written',
};

interface ServerFactsProps {
  readonly now: ServerState;
  readonly history: HealthHistory;
}

/** The server at this moment. */
export function ServerFacts({ now, history }: ServerFactsProps) {
  const { disk, database, storage, wrong_answers: wrong } = now;
  return (
    <section class="card" aria-labelledby="health-now">
      <h2 id="health-now">Now</h2>
      <dl class="facts columns">
        <Fact name="Server">
          <State text={stateTexts[now.state]} mood={now.state === 'ready' ? 'good' : 'bad'} />
        </Fact>
        <Fact name="Version">{now.version}</Fact>
        <Fact name="Up for">{durationInWords(now.uptime_s)}</Fact>
        <Fact name="Processes">{count(history.processes)}</Fact>
        <Fact name="Known answers">
          {wrong.length === 0 ? (
            <>
              none wrong{' '}
              <span class="soft">
                (the first one of each model that has any; <code>veravox doctor</code> tries all)
              </span>
            </>
          ) : (
            <State text={`${wrong.length} wrong`} mood="bad" />
          )}
        </Fact>
        <Fact name="Models run on">
          {now.devices.length === 0 ? now.provider.toUpperCase() : now.devices.map(deviceText).join(', ')}
        </Fact>
        <Fact name="Database">
          {database.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}{' '}
          <State text={databaseTexts[database.state]} mood={database.state === 'up' ? 'good' : 'bad'} />
        </Fact>
        <Fact name="Files">
          {storage.bucket === null ? (
            'data folder'
          ) : (
            <>
              bucket <Name text={storage.bucket} />
            </>
          )}
        </Fact>
        <Fact name="Free disk space">
          {disk === null
            ? 'unknown'
            : `${bytesInWords(disk.free_bytes)} of ${bytesInWords(disk.total_bytes)}`}
        </Fact>
      </dl>
      {now.fallback_reason !== null && (
        <p class="soft">
          Models run on the CPU because <Name text={now.fallback_reason} />.
        </p>
      )}
      {wrong.length > 0 && <WrongAnswers wrong={wrong} />}
      <details>
        <summary>Limits</summary>
        <Table
          label="Limits"
          caption="Settings that limit the load of the server"
          columns={['Setting', { number: 'Value' }]}
        >
          {now.limits.map(({ setting, value }) => (
            <tr key={setting}>
              <th scope="row">
                <code>{setting}</code>
              </th>
              <td class="number">{count(value)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const deviceText = ({ device, working, problem }: ServerState['devices'][number]): string =>
  working ? device.toUpperCase() : `${device.toUpperCase()} (failed: ${problem ?? 'cause unknown'})`;

const numbers = (values: readonly number[]): string => values.map((value) => value.toFixed(4)).join(', ');

const WrongAnswers = ({ wrong }: { readonly wrong: ServerState['wrong_answers'] }) => (
  <Table
    label="Failed known answers"
    caption="Failed known answers"
    columns={['Model', 'Clip', 'Expected', 'Measured']}
  >
    {wrong.map(({ model, file, expected, measured, error }) => (
      <tr key={`${model} ${file}`}>
        <th scope="row">
          <Name text={model} />
        </th>
        <td>
          <Name text={file} />
        </td>
        <td>{numbers(expected)}</td>
        <td>{error === null ? numbers(measured) : <Name text={error} />}</td>
      </tr>
    ))}
  </Table>
);
