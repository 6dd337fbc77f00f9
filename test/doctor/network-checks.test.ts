/** What doctor says of a service that runs and is not ready: what that service itself says. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { portChecks } from '../../src/doctor/network-checks.js';
import type { PartState } from '../../src/observability/readiness.js';

let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  await once(server.close(), 'close');
});

/** The admin port of a service with these parts. */
const adminPort = (parts: readonly PartState[], status = 503) => adminPortOf(() => parts, status);

/** @param parts called for each request of /health/ready */
async function adminPortOf(parts: () => readonly PartState[], status: number): Promise<number> {
  server = createServer(({ url }, response) => {
    const isLive = url === '/health/live';
    response
      .writeHead(isLive ? 200 : status)
      .end(JSON.stringify(isLive ? { status: 'live' } : { status: 'not ready', parts: parts() }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('names each part that the service needs and lacks, with the reason', async () => {
  const why = "payments are delivered but not confirmed: the read model is behind the event store's head since noon";
  const port = await adminPort([
    { part: 'broker', ready: true, needed: true },
    { part: 'dispatcher', ready: false, needed: true, why },
    { part: 'accounts', ready: false, needed: false, why: 'account 42 is set aside' },
  ]);
  const checks = portChecks({ HOST: '127.0.0.1', PORT: 0, ADMIN_PORT: port }, true, 0);
  const findings = await checks.find(({ name }) => name === 'ADMIN_PORT')?.run();
  expect(findings?.at(-2)).toMatchObject({ verdict: 'warn', says: 'accounts: account 42 is set aside' });
  expect(findings?.at(-3)).toMatchObject({ verdict: 'FAIL', says: `dispatcher: ${why}` });
  expect(findings?.at(-1)).toMatchObject({ verdict: 'FAIL', says: 'the service is not ready' });
});

test('names what a ready service lacks besides, with the remedy', async () => {
  const why =
    'payment-events refuses the record (MESSAGE_TOO_LARGE): it has about 9000 bytes, and max.message.bytes is 2000';
  const port = await adminPort([{ part: 'topics', ready: false, needed: false, why }], 200);
  const checks = portChecks({ HOST: '127.0.0.1', PORT: 0, ADMIN_PORT: port }, true, 0);
  const findings = await checks.find(({ name }) => name === 'ADMIN_PORT')?.run();
  const todo = expect.stringContaining('raise max.message.bytes of the topic to 1048576');
  expect(findings?.at(-2)).toEqual({ verdict: 'warn', says: `topics: ${why}`, todo });
  expect(findings?.at(-1)).toMatchObject({ verdict: 'ok' });
});

test('a component that a starting service lacks only for a moment is not reported', async () => {
  let requests = 0;
  const why = 'the topic of deliveries has not answered yet';
  const port = await adminPortOf(() => {
    requests += 1;
    return [{ part: 'deliveries view', ready: requests > 1, needed: false, why }];
  }, 200);
  const checks = portChecks({ HOST: '127.0.0.1', PORT: 0, ADMIN_PORT: port }, true);
  const findings = await checks.find(({ name }) => name === 'ADMIN_PORT')?.run();
  expect(findings?.slice(1)).toMatchObject([{ verdict: 'ok', says: 'the service is ready' }]);
});

test.each(['192.0.2.7', 'no-such-host.invalid'])('HOST %s fails: no service could listen there', async (host) => {
  await adminPort([]);
  const [{ run } = { run: async () => [] }] = portChecks({ HOST: host, PORT: 18_080, ADMIN_PORT: 0 }, false);
  expect(await run()).toMatchObject([
    { verdict: 'FAIL', says: expect.stringContaining(`HOST ${host} is not an address of this machine`) },
  ]);
});
