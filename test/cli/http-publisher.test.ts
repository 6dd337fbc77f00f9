/** What a publisher does with each answer of a service, which fakes give here. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { HttpPublisher } from '../../src/cli/http-publisher.js';

/** Statuses in the order of the requests; then 200 and 202. */
let tokens: number[];
let publications: number[];
let asked: string[];
let server: Server;
let publisher: HttpPublisher;

beforeEach(async () => {
  [tokens, publications, asked] = [[], [], []];
  server = createServer((request, response) => {
    const isToken = request.url === '/oauth/token';
    asked.push(isToken ? 'token' : 'publish');
    const status = (isToken ? tokens.shift() : publications.shift()) ?? (isToken ? 200 : 202);
    const body = isToken ? { access_token: 't', token_type: 'Bearer', expires_in: 60 } : { success: true };
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' });
    response.end(JSON.stringify(status < 300 ? body : { success: false, message: 'planted' }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  publisher = new HttpPublisher(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, ['id', 'secret']);
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

it('without a first token nothing is tried again: the URL or the credentials may be wrong', async () => {
  tokens = [503];
  await expect(publish()).rejects.toThrow('planted');
  expect(asked).toEqual(['token']);
});

it('credentials that were revoked are not tried again', async () => {
  await publish();
  publications = [401];
  tokens = [401];
  await expect(publish()).rejects.toThrow();
  expect(asked).toEqual(['token', 'publish', 'publish', 'token']);
});
