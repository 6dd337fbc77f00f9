import { type AdminServer, startAdminServer } from '../../src/observability/admin-server.js';
import { HeldConnection } from '../support/clients/held-connection.js';
import { head, rawRequest } from '../support/clients/raw-request.js';
import { eventually } from '../support/clocks/eventually.js';

/** What it answers with is large. */
const LARGE = {
  readiness: { report: () => ({ ready: false, body: { why: 'x'.repeat(100_000) } }) },
  metrics: { contentType: 'text/plain', text: () => '' },
} as never;

let server: AdminServer | undefined;
let held: HeldConnection[] = [];

afterEach(async () => {
  for (const connection of held) connection.close();
  held = [];
  await server?.close();
});

const GET = head('GET /health/live HTTP/1.1', 'Host: 127.0.0.1');
const QUICK = { stallMs: 30_000, requestMs: 150, lookEveryMs: 20 };

async function started(limits?: typeof QUICK): Promise<number> {
  server = await startAdminServer('127.0.0.1', 0, LARGE, limits);
  return server.port;
}

async function hold(port: number): Promise<HeldConnection> {
  const connection = await HeldConnection.open(port);
  held.push(connection);
  return connection;
}

it.each(['http://127.0.0.1:9/health/live', 'HTTP://[::1]/health/live?x=1'])('takes the target %s', async (target) => {
  const port = await started();
  expect((await rawRequest(port, head(`GET ${target} HTTP/1.1`))).status).toBe(200);
  expect((await rawRequest(port, head('GET http://127.0.0.1 HTTP/1.1'))).status).toBe(404);
});

describe('200 slow connections', () => {
  const body = head('POST /health/live HTTP/1.1', 'Host: 127.0.0.1', 'Content-Length: 60000');
  const chunks = head('POST /health/live HTTP/1.1', 'Host: 127.0.0.1', 'Transfer-Encoding: chunked');

  it.each<[string, (connection: HeldConnection) => unknown]>([
    ['that send nothing', () => undefined],
    ['whose head drips in', (connection) => connection.send(GET.slice(0, -2)).keepSending('X: y\r\n')],
    ['whose body never ends', (connection) => connection.send(body).keepSending(' ')],
    ['whose chunks never end', (connection) => connection.send(chunks).keepSending('1\r\n \r\n')],
  ])('%s keep nobody from an answer, and are closed', async (_, misbehave) => {
    const port = await started(QUICK);
    for (let count = 0; count < 200; count += 1) misbehave(await hold(port));
    expect((await rawRequest(port, GET)).status).toBe(200);
    await eventually(() => held.every((connection) => connection.hasEnded || connection.isClosed), {
      message: 'they stay open',
    });
  });
});
