import { afterEach, expect, it } from '@jest/globals';
import { type AdminServer, startAdminServer } from '../../src/observability/admin-server.js';
import { eventually } from '../support/eventually.js';
import { HeldConnection } from '../support/held-connection.js';
import { head } from '../support/raw-request.js';

/** What it answers with is large. */
const LARGE = {
  readiness: { report: () => ({ ready: false, body: { why: 'x'.repeat(100_000) } }) },
  metrics: { contentType: 'text/plain', text: async () => '' },
} as never;

let server: AdminServer | undefined;
let held: HeldConnection | undefined;

afterEach(async () => {
  held?.close();
  await server?.close();
});

it('a connection that does not read what it asked for is closed', async () => {
  server = await startAdminServer('127.0.0.1', 0, LARGE, 150);
  held = (await HeldConnection.open(server.port)).stopReading();
  const asked = head('GET /health/ready HTTP/1.1');
  held.send(asked.repeat(200)).keepSending(asked);
  await eventually(() => held?.isClosed, { message: 'it stays open' });
  expect(held.received).toBe('');
});
