/** What doctor says of a service that runs and is not ready: what that service itself says. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { portChecks } from '../../src/doctor/port-checks.js';
import type { PartState } from '../../src/observability/readiness.js';
import type { Config } from '../../src/settings/config.js';

let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  await once(server.close(), 'close');
});

/** The admin port of a service with these parts. */
async function adminPort(parts: readonly PartState[]): Promise<number> {
  server = createServer(({ url }, response) => {
    const isLive = url === '/health/live';
    response
      .writeHead(isLive ? 200 : 503)
      .end(JSON.stringify(isLive ? { status: 'live' } : { status: 'not ready', parts }));
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
  const checks = portChecks({ host: '127.0.0.1', port: 0, adminPort: port } as Config);
  const findings = await checks.find(({ name }) => name === 'ADMIN_PORT')?.run();
  expect(findings?.at(-1)).toMatchObject({ verdict: 'warn', says: `the service is not ready: dispatcher: ${why}` });
});

test.each(['192.0.2.7', 'no-such-host.invalid'])('HOST %s, where no service could listen', async (host) => {
  await adminPort([]);
  const [{ run } = { run: async () => [] }] = portChecks({ host, port: 18_080, adminPort: 0 } as unknown as Config);
  expect(await run()).toMatchObject([
    { verdict: 'FAIL', says: expect.stringContaining(`HOST ${host} is not an address of this machine`) },
  ]);
});
