/** `webhooks recover --wait`: the recovery goes on whatever becomes of a look at it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { commandLine } from '../support/in-process-cli.js';

const RUNNING = { state: 'running', count: 2, sent: 1, delivered: 1, failed: 0 };

/** Statuses of the looks, in order; then the recovery is done. */
let looks: number[];
let server: Server;

beforeEach(async () => {
  server = createServer((request, response) => {
    const status = request.url?.startsWith('/api/recoveries/') ? (looks.shift() ?? 200) : 200;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answerTo(request.url ?? '', status)));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

function answerTo(path: string, status: number): object {
  if (status !== 200) return { success: false, message: 'planted' };
  if (path.startsWith('/api/recoveries/')) return { ...RUNNING, state: 'done', sent: 2, delivered: 2, passedBy: 3 };
  return path.includes('?') ? { count: 2, oldest: null, newest: null } : { id: 'r-1', count: 2, message: 'started' };
}

function recover() {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return commandLine({}, ['webhooks', 'recover', '1', '--since', '2020-01-01', '--wait', '--token', 't', '--url', url]);
}

it('a restart of the service and a limit are waited out', async () => {
  looks = [503, 429];
  expect(await recover()).toMatchObject({
    code: 0,
    stdout: 'done: sent 2 of 2, 2 delivered, 0 failed, 3 could not be sent\n',
  });
});

it('a token that has expired ends the wait, and says which recovery goes on', async () => {
  looks = [401];
  const { code, stderr } = await recover();
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('recovery r-1 goes on') });
});
