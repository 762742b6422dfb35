// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { restWithoutDescriptors } from '../../../src/api/http/accept-rest.js';
import { canOpen } from '../../../src/api/http/descriptors.js';
import { listen } from '../../../src/api/http/listener.js';
import { eventually } from '../../support/eventually.js';
import { request } from '../../support/http-client.js';
import { startTestServer } from '../../support/test-server.js';

const handle: Parameters<typeof listen>[0]['handle'] = (res) => {
  res.end('here');
};

test('the port belongs to one server: a second one fails and says why', async (t) => {
  const { port } = await startTestServer(t);
  await assert.rejects(
    listen({ host: '127.0.0.1', port, handle }),
    new RegExp(`^Error: Cannot listen on 127\\.0\\.0\\.1 port ${port}: another program listens there`),
  );
  await assert.rejects(
    listen({ host: '127.0.0.1', port, handle, isShared: true }),
    /another program listens there/,
    'who shares cannot take part of it either',
  );
  assert.equal((await request(port, '/livez')).status, 200);
});

test('a port is shared where both sides want it', async () => {
  const first = await listen({ host: '127.0.0.1', port: 0, handle, isShared: true });
  // A port chosen by the system is not shared yet; the number can be taken again in a shared way.
  first.close();
  const { port } = first;
  const one = await listen({ host: '127.0.0.1', port, handle, isShared: true });
  const two = await listen({ host: '127.0.0.1', port, handle, isShared: true });
  assert.equal((await request(port, '/')).text, 'here');
  await assert.rejects(listen({ host: '127.0.0.1', port, handle }), /another program listens there/);
  one.close();
  two.close();
});

test('an address of another machine, a host without an address, a privileged port: each has its reason', async () => {
  await assert.rejects(listen({ host: '192.0.2.1', port: 0, handle }), /this machine has no such address/);
  await assert.rejects(
    listen({ host: 'no-such-host.invalid', port: 0, handle }),
    /there is no host of this name|EAI_AGAIN/,
  );
  const program = `
    import { listen } from '${new URL('../../../src/api/http/listener.js', import.meta.url)}';
    process.setuid(65534);
    try { (await listen({ host: '127.0.0.1', port: 1, handle() {} })).close(); }
    catch (error) { process.stdout.write(error.message); }
    process.exit();`;
  const unprivileged = fs.readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8').trim();
  if (process.getuid?.() === 0 && Number(unprivileged) > 1) {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
    assert.match(String(stdout), /ports below 1024 are for root/, String(stderr));
  }
});

test('out of file descriptors the server rests, answers whom it has, and takes connections again afterwards', async (t) => {
  const serverFile = fileURLToPath(new URL('../../support/stoppable-server.js', import.meta.url));
  const command = `ulimit -n 256; exec "${process.execPath}" "${serverFile}"`;
  const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await eventually(() => /"port":\d+/.test(output), 'It listens');
  const port = Number(/"port":(\d+)/.exec(output)?.[1]);
  assert.equal((await request(port, '/livez')).status, 200);

  const sockets = Array.from({ length: 400 }, () => net.connect(port, '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => {});
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  await eventually(() => sockets.some((socket) => socket.closed), 'Some are refused');
  const before = cpuMs(child.pid);
  const startedMs = performance.now();
  await eventually(() => performance.now() - startedMs > 2000, 'Two seconds pass');
  const share = (cpuMs(child.pid) - before) / (performance.now() - startedMs);
  // 0.4 to 1 while it retried continuously.
  assert.ok(share < 0.25, `${share} of a core`);
  for (const socket of sockets) socket.destroy();
  await eventually(
    () =>
      request(port, '/livez').then(
        ({ status }) => status === 200,
        () => false,
      ),
    'It serves again',
  );
  child.kill('SIGTERM');
  await once(child, 'exit');
});

test('without any free descriptor it stops listening, and listens again on the same port when there are some', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const listener = await listen({ host: '127.0.0.1', port: 0, handle });
  let free = 0;
  let rests = 0;
  const stopWatching = restWithoutDescriptors(
    listener,
    pino({ level: 'silent' }),
    () => rests++,
    (count) => free >= count,
  );
  const isServed = (): Promise<boolean> =>
    request(listener.port, '/').then(
      () => true,
      () => false,
    );
  assert.ok(await isServed());
  t.mock.timers.tick(1000);
  assert.ok(!(await isServed()));
  free = 1;
  t.mock.timers.tick(1000);
  assert.ok(!(await isServed()), 'one is too few to begin again');
  free = 100;
  t.mock.timers.tick(1000);
  assert.ok(await isServed());
  assert.equal(rests, 1);
  stopWatching();
  listener.close();
});

test('whether files can be opened is found out by opening some', () => {
  assert.ok(canOpen(8));
  assert.ok(!canOpen(1_000_000));
  assert.ok(canOpen(8), 'and they were closed again');
});

/** User and system time of a process; the kernel counts in hundredths of a second. */
function cpuMs(pid = 0): number {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
