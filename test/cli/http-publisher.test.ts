/** What a publisher does with each answer of a service, which fakes give here. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HttpPublisher } from '../../src/cli/http-publisher.js';

/** Statuses in the order of the requests; then 200 and 202. */
let tokens: number[];
let publications: number[];
let asked: string[];
let told: string[];
let server: Server;
let publisher: HttpPublisher;

beforeEach(async () => {
  [tokens, publications, asked, told] = [[], [], [], []];
  server = createServer((request, response) => {
    const isToken = request.url === '/oauth/token';
    asked.push(isToken ? 'token' : 'publish');
    const status = (isToken ? tokens.shift() : publications.shift()) ?? (isToken ? 200 : 202);
    const body = isToken ? { access_token: 't', token_type: 'Bearer', expires_in: 60 } : { success: true };
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' });
    response.end(JSON.stringify(status < 300 ? body : { success: false, message: 'planted' }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  publisher = new HttpPublisher(url, ['id', 'secret'], undefined, (message) => told.push(message));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const publish = () => publisher.publish([{ key: null, value: Buffer.from('{}'), headers: [] }]);

it('an outage while an expired token is renewed is tried again, like any other', async () => {
  await publish();
  publications = [401];
  tokens = [503, 429];
  await publish();
  expect(asked).toEqual(['token', 'publish', 'publish', 'token', 'token', 'token', 'publish']);
});

it('an outage is the service’s, however long it takes and whoever answers for it; it is said once', async () => {
  tokens = [503];
  publications = [503, 503, 502, 503];
  await publish();
  expect(asked).toEqual(['token', 'token', ...Array(5).fill('publish')]);
  expect(told).toHaveLength(3);
});

it('where there never was an answer the URL may be wrong', async () => {
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  await expect(publish()).rejects.toThrow(`no service answers at http://127.0.0.1:${port}`);
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
});
