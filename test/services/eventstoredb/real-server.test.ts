/** How a program of EVENTSTOREDB_COMMAND is started and ended, on the test server as a program of its own. */
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/temporary-directory.js';
import { collect, event, failure, harness, numbers } from './harness.js';
import { isFree, onFreePort, startRealServer } from './real-server.js';

const PROGRAM = fileURLToPath(new URL('./server-program.js', import.meta.url));
const SOON_MS = 300;

const { client: connect, onEnd } = harness();
let folder: ReturnType<typeof temporaryDirectory>;
beforeAll(() => {
  folder = temporaryDirectory();
});
afterAll(() => folder.remove());

/** A program: a shell script of these lines. */
function script(name: string, ...lines: string[]): string {
  const path = join(folder.path, name);
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
  return path;
}

test('it is killed with all that its script started, and keeps what it acknowledged until it is stopped', async () => {
  const told = join(folder.path, 'told');
  const server = await startRealServer(
    script('starts', `echo "$2" > '${told}'`, `'${PROGRAM}' "$1" "$2"`, 'echo ended'),
  );
  onEnd(() => server.stop());
  const client = connect(server.url);
  await client.appendToStream('a', event(1));
  await server.kill();
  expect(await failure(client.appendToStream('a', event(2)))).toMatchObject({ code: 14 });
  expect(await isFree(server.port)).toBe(true);
  await server.revive();
  expect(numbers(await collect(connect(`${server.url}&keepAliveInterval=20000`).readStream('a')))).toEqual([1]);
  await server.stop();
  expect(await isFree(server.port)).toBe(true);
  expect(existsSync(dataFolder(told))).toBe(false);
});

function dataFolder(told: string): string {
  return readFileSync(told, 'utf8').trim();
}

test('a program that ends at once: the error has its code and what it said', async () => {
  const starting = startRealServer(script('ends', 'echo out', 'echo "no licence" >&2', 'exit 3'));
  await expect(starting).rejects.toThrow(
    /ends \d+ \/.*: no EventStoreDB came up, it ended with 3\n(out\nno licence\n|no licence\nout\n)$/,
  );
});

test('a program that is not there', async () => {
  await expect(startRealServer(join(folder.path, 'nowhere'))).rejects.toThrow(
    /it ended with 127\n.*nowhere.*(not found|No such file)/,
  );
});

test('a program that never shows a leader is killed: the error has what it said', async () => {
  const program = script('never', 'echo waiting for the others', 'sleep 600');
  // Also that it ends: a sleep that outlived its script would hold the output open.
  await expect(startRealServer(program, SOON_MS)).rejects.toThrow(
    /its \/gossip shows no leader \(within 300 ms\)\nwaiting for the others\n$/,
  );
});

test('a port that somebody else took meanwhile is not tried again', async () => {
  const taken: Server[] = [];
  const start = async (port: number) => {
    if (taken.length === 2) return port;
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    taken.push(other);
    throw new Error('the address is in use');
  };
  const { port, result } = await onFreePort(start);
  const others = taken.map((server) => (server.address() as { port: number }).port);
  await Promise.all(taken.map((server) => once(server.close(), 'close')));
  expect(result).toBe(port);
  expect(others).not.toContain(port);
  await expect(onFreePort(() => Promise.reject(new Error('no licence')))).rejects.toThrow('no licence');
});
